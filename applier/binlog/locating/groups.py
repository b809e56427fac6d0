"""The event groups of a file, or of a part of it, as columns, from the outline's kernel; and the statements that made
their rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from applier.binlog.events.format import HEADER_LENGTH
from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating.place import Timed
from applier.binlog.locating.texts_kernel import join_texts
from applier.binlog.outline.kernels.outline_recording import Recording
from applier.binlog.outline.kernels.outline_rule import domain_of, source_text
from applier.binlog.outline.outline_pass import GROUP_BYTES, OutlinePass
from applier.binlog.outline.stop import StopCondition
from keysearch.addresses import address_of

_WHOLE = 1 << 62


@dataclass(frozen=True)
class Group(Timed):
    """One event group: [start, end) in a file, and its time in epoch seconds. Missing fields are None."""

    file: str
    start: int
    end: int
    timestamp: int
    gtid: str | None
    xid: int | None
    group_id: int | None


@dataclass(frozen=True)
class Groups:
    """Groups in log order; each array has one entry per group.

    `sources` are indexes in `names`, the parts of GTIDs before the last number: "uuid", "uuid:tag" or "domain-server".
    """

    file: str
    starts: np.ndarray
    ends: np.ndarray
    times: np.ndarray
    names: list[str]
    sources: np.ndarray  # -1 without a GTID
    numbers: np.ndarray
    xids: np.ndarray  # -1 without an XID event
    ids: np.ndarray | None  # None where headers have no group id (GRP-3), NO_GROUP_ID where a group has none
    servers: np.ndarray  # where they come from (GRP-6)
    threads: np.ndarray  # -1 where the log has none

    def __len__(self) -> int:
        return len(self.starts)

    def of_threads(self, threads: Collection[int]) -> np.ndarray:
        """Return which groups these threads ran, as far as the log says so: bool[n]. All groups if no thread is given.
        """
        found: np.ndarray = np.isin(self.threads, [*threads]) if threads else np.ones(len(self), np.bool_)
        return found

    @property
    def are_without_thread(self) -> np.ndarray:
        """Return which groups have no thread in the log: bool[n]."""
        unknown: np.ndarray = self.threads < 0
        return unknown

    def __getitem__(self, index: int) -> Group:
        source, xid = int(self.sources[index]), int(self.xids[index])
        gtid = None
        if source >= 0:
            name = self.names[source]
            gtid = f"{name}{'-' if name.count('-') == 1 else ':'}{self.numbers[index]}"
        return Group(self.file, int(self.starts[index]), int(self.ends[index]), int(self.times[index]), gtid,
                     None if xid < 0 else xid, None if self.ids is None else int(self.ids[index]) or None)


@dataclass(frozen=True)
class RowStatements:
    """The statements that made rows events, in log order: statement i made those in [starts[i], ends[i]). Its bytes, in
    its client's character set, are data[offsets[i]:offsets[i + 1]]. Statements in a compressed event have its position.
    """

    starts: np.ndarray
    ends: np.ndarray
    offsets: np.ndarray
    data: np.ndarray


class GroupPass(OutlinePass):
    """A pass over a file for its groups, or for statements. Checksums are not verified, since nothing is applied.

    Raises ArchiveError if the file's head cannot be read.
    """

    def __init__(self, uri: str) -> None:
        super().__init__(uri, StopCondition(), _WHOLE, verify=False)

    def groups(self, begin: int | None = None, end: int | None = None) -> Groups:
        """Return the whole groups in [begin, end), by default of the whole file. A group must start at `begin`. Raises
        ArchiveError (1610) if the bytes cannot be divided into events."""
        recording = self._recorded(begin, end)
        entries = recording.used("groups")
        has_gtid = entries["number"] >= 0
        sources = np.where(has_gtid, entries["source"], -1)
        known = recording.source_bytes()
        if self.format.flavour == "mariadb":
            names, sources = _domain_servers(known, sources, entries["server"])
        else:
            names = [source_text(source) for source in known]
        return Groups(self.name, entries["start"], entries["end"], entries["time"], names, sources,
                      entries["number"], entries["xid"], self.group_ids(entries["start"]),
                      self.servers(entries["start"]), entries["thread"])

    def kind_at(self, offset: int) -> int:
        """Return the type of the event at an offset."""
        self.mapped.fetch(offset, offset + HEADER_LENGTH)
        return int(self.mapped.array[offset + 4])

    def row_statements(self, begin: int, end: int) -> RowStatements:
        """Return the statements that made rows events, of the whole groups in [begin, end). Raises as `groups` does."""
        recording = self._recorded(begin, end, with_statements=True)
        groups, found = recording.used("groups"), recording.used("row_statements")
        found = found[: np.searchsorted(found["position"], groups["end"][-1])] if len(groups) else found[:0]
        ends = groups["end"][np.searchsorted(groups["end"], found["position"], side="right")]
        offsets = np.concatenate([[0], np.cumsum(found["length"])])
        data = np.empty(int(offsets[-1]), np.uint8)
        join_texts(self.mapped.address, np.ascontiguousarray(found["text"]), offsets, address_of(data))
        return RowStatements(found["position"].copy(), np.minimum(found["end"], ends), offsets, data)

    def _recorded(self, begin: int | None, end: int | None, with_statements: bool = False) -> Recording:
        begin = self.head_end if begin is None else begin
        end = self.mapped.size if end is None else min(end, self.mapped.size)
        most = 1 + max(0, end - begin) // GROUP_BYTES
        try:
            return self._walk(begin, max(begin, end), GtidSet(), None, most, most * with_statements).recording
        finally:
            self.mapped.check_whole()


def _domain_servers(known: list[bytes], sources: np.ndarray, servers: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the sources of MariaDB by domain and server, since a GTID names both."""
    domains = np.array([domain_of(source) for source in known] or [0], np.int64)
    pairs = np.where(sources >= 0, domains[sources] << 32 | servers, -1)
    distinct, which = np.unique(pairs, return_inverse=True)
    first = int(len(distinct) > 0 and distinct[0] < 0)
    names = [f"{pair >> 32}-{pair & 0xFFFFFFFF}" for pair in distinct[first:].tolist()]
    return names, which - first
