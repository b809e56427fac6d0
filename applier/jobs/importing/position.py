"""The binlog position that a dump records: in statements, or in comments that look like them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from applier.binlog.archive.log_names import check_log_name
from applier.binlog.events.gtid import GtidSet
from applier.snapshot.manifest import BinlogPosition

_CHANGE = re.compile(r"^(?:--\s*)?CHANGE\s+(?:MASTER|REPLICATION\s+SOURCE)\s+TO\b([^;]*)", re.IGNORECASE | re.MULTILINE)
_FILE = re.compile(r"\b(?:MASTER|SOURCE)_LOG_FILE\s*=\s*'((?:[^']|'')+)'", re.IGNORECASE)
_OFFSET = re.compile(r"\b(?:MASTER|SOURCE)_LOG_POS\s*=\s*([0-9]{1,19})\b", re.IGNORECASE)
_PURGED = re.compile(r"^(?:--\s*|/\*\s*)?SET\s+@@GLOBAL\.GTID_PURGED\s*=\s*(?:/\*!\d+\s*'\+'\s*\*/\s*)?'([^']*)'",
                     re.IGNORECASE | re.MULTILINE)
_SLAVE_POS = re.compile(r"^(?:--\s*)?SET\s+GLOBAL\s+gtid_slave_pos\s*=\s*'([^']*)'", re.IGNORECASE | re.MULTILINE)
# mydumper's metadata, whose values may be in comments; a replica's source has a section of its own.
_MASTER = re.compile(r"^(?:SHOW (?:MASTER|BINARY LOG) STATUS:|\[(?:master|source)\])(.*?)(?=^SHOW |^\[|\Z)",
                     re.IGNORECASE | re.MULTILINE | re.DOTALL)
_LOG = re.compile(r"^[# \t]*(?:Log:|File\s*=|(?:SOURCE|MASTER)_LOG_FILE\s*=)\s*[\"']?([^\"'\s]+)", re.I | re.M)
_POS = re.compile(r"^[# \t]*(?:Pos:|Position\s*=|(?:SOURCE|MASTER)_LOG_POS\s*=)\s*[\"']?([0-9]{1,19})\b", re.I | re.M)
_GTID = re.compile(r"^[# \t]*(?:GTID:|executed_gtid_set\s*=)[ \t]*[\"']?([\w:-]+(?:,\s*[\w:-]+)*)", re.I | re.M)


@dataclass(frozen=True)
class DumpPosition:
    """The position of a dump: a binlog's name and an offset, a GTID set; "" and 0 if unknown; and the id of the last
    group, None if unknown. Raises UsageError for a name that no binlog has."""

    file: str = ""
    offset: int = 0
    gtid_set: str = ""
    group_id: int | None = None

    def __post_init__(self) -> None:
        check_log_name(self.file)

    def after(self, text: str) -> DumpPosition:
        """Return the position completed by a part of a dump, which need not be a statement."""
        found = self
        for change in _CHANGE.finditer(text):
            file, offset = _FILE.search(change[1]), _OFFSET.search(change[1])
            if file and offset:
                found = replace(found, file=file[1].replace("''", "'"), offset=int(offset[1]))
        for pattern in (_PURGED, _SLAVE_POS):
            for match in pattern.finditer(text):
                gtids = "".join(match[1].split()).removeprefix("+")
                found = replace(found, gtid_set=str(GtidSet.parse(gtids)))
        return found

    def in_manifest(self, flavour: str) -> BinlogPosition:
        """Return the position for a manifest; the time of the last event group is unknown."""
        return BinlogPosition(self.file, self.offset, self.gtid_set, None, flavour, self.group_id)


def of_metadata(text: str) -> DumpPosition:
    """Return the position in mydumper's metadata file, in any of its versions' notations."""
    section = _MASTER.search(text)
    if section is None:
        return DumpPosition()
    file, offset, gtids = (pattern.search(section[1]) for pattern in (_LOG, _POS, _GTID))
    known = GtidSet.parse("".join(gtids[1].split())) if gtids else ""
    return DumpPosition(file[1], int(offset[1]), str(known)) if file and offset else DumpPosition(gtid_set=str(known))
