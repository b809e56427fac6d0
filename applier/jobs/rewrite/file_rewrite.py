"""Writes one file of an archive again.

    events → other images (rewrite_kernel) → compressed (packing) → with positions and checksums (framing_kernel)
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

import numpy as np

from applier.binlog.events.compression.compressed import Inflater
from applier.binlog.events.events import read_format
from applier.binlog.events.format import MAGIC, EventType, FormatDescription
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.events.xa import parse_xa_prepare
from applier.binlog.rows.table_ids import TableIds
from applier.errors import CORRUPT_EVENT, ApplierError, ArchiveError
from applier.io.mapping import map_file
from applier.io.resolver import is_local, resolve
from applier.jobs.rewrite.documents import DocumentDiffs
from applier.jobs.rewrite.gtid_list import GtidList
from applier.jobs.rewrite.kernels import records as r
from applier.jobs.rewrite.kernels.documents_kernel import find_documents
from applier.jobs.rewrite.kernels.filter_kernel import slot_of
from applier.jobs.rewrite.kernels.framing_kernel import MORE_BYTES, frame
from applier.jobs.rewrite.kernels.records import Status
from applier.jobs.rewrite.kernels.rewrite_kernel import rewrite
from applier.jobs.rewrite.packing import Packed
from applier.jobs.rewrite.result import RewrittenFile
from applier.jobs.rewrite.statements import THREAD_BYTES, StatementFilter, is_xa
from keysearch.addresses import address_of

PART_BYTES = 8 << 20
"""Written at a time, except for a transaction of MySQL that is larger: its GTID event has its length."""
MOST_BYTES = 1 << 32
"""The most bytes of a file: headers of events have positions of 32 bits."""
_FIRST_EVENTS = 1 << 16
_GTID_LIST, _MARIADB_GTID = 163, 162
_EMPTY_CONTEXT = bytes.fromhex("010020a04500000000" "0421002100ff00")
_EMPTY = [struct.pack("<IIBHH", 0, 0, 0, 0, len(_EMPTY_CONTEXT)) + _EMPTY_CONTEXT + b"\0" + word
          for word in (b"BEGIN", b"COMMIT")]
"""The statements that MySQL's replicas write for a transaction that their filters have emptied, with a sql_mode and
character sets."""
ImagesOf = Callable[[TableMap, int], tuple[np.ndarray, np.ndarray] | None]
"""A function from a table map at an offset to the columns of its images, as `table_images.image_columns` returns them,
and the missing parts of images (`completing.Completion.fills`); None if images stay unchanged."""


@dataclass(frozen=True)
class FileToRewrite:
    """A file: where it is, and its name as a log; where its last event group ends (None: at its end); offsets
    of events, in their order, at which tables may get other definitions."""

    uri: str
    name: str
    end: int | None
    redefined_at: Sequence[int]


@dataclass(frozen=True)
class FileFilter:
    """The parts of a file to drop: by its table maps and statements, and whole groups by offsets (int64[n, 2],
    ascending); `gtid_list` has the GTIDs at the heads of MariaDB's files."""

    statements: StatementFilter
    ranges: np.ndarray
    gtid_list: GtidList


def rewrite_file(file: FileToRewrite, target: str, images_of: ImagesOf, *, compresses: bool, makes_diffs: bool,
                 completes: int, filtered: FileFilter | None = None) -> RewrittenFile:
    """Rewrite a file to a path. The new file has the permissions of the source file. Raises ArchiveError if its bytes
    contradict each other, and ApplierError if there are more than positions can count."""
    walk = _Walk(file, images_of, compresses, makes_diffs, completes, filtered)
    with open(target, "xb", opener=partial(os.open, mode=0o600)) as output:
        os.fchmod(output.fileno(), _mode_of(file.uri))
        output.write(MAGIC)
        position = len(MAGIC)
        for part in walk.parts():
            position += walk.write(part, output, position)
            if position >= MOST_BYTES > walk.size:
                raise ApplierError("a rewritten file would reach 4 GiB, where positions end", file=file.uri,
                                   hint="leave out --image full, or give --compress with it")
    return RewrittenFile(file.name, walk.size, position, walk.emptied, walk.dropped)


def _mode_of(uri: str) -> int:
    """Return the permissions of a local file to read and write; those of a private file for a far one."""
    filesystem, path = resolve(uri)
    return os.stat(path).st_mode & 0o666 if is_local(filesystem) else 0o600


def knows_compressed(format: FormatDescription) -> bool:
    """Return whether the server that wrote a file knows compressed events: a replica refuses those that the file's
    format description does not list (MySQL 8.0.20, MariaDB 10.2)."""
    last = EventType.DELETE_ROWS_COMPRESSED_V1 if format.flavour == "mariadb" else EventType.TRANSACTION_PAYLOAD
    return len(format.post_header_lengths) >= last


def knows_diffs(format: FormatDescription) -> bool:
    """Return whether the server that wrote a file knows JSON diffs: MySQL from 8.0.3 on."""
    return format.flavour == "mysql" and len(format.post_header_lengths) >= EventType.PARTIAL_UPDATE_ROWS


class _Walk:
    """The walk over a file, and its memory."""

    def __init__(self, file: FileToRewrite, images_of: ImagesOf, compresses: bool, makes_diffs: bool,
                 completes: int, filtered: FileFilter | None) -> None:
        self._mapped, self._images_of, self._filter = map_file(file.uri), images_of, filtered
        self._file, self._format = file, read_format(self._mapped)
        self.size = self._mapped.size
        self._end = self.size if file.end is None else file.end
        self._inflater = Inflater(self._mapped, self._format.header_length, self._format.checksum_length)
        self._memory, self._events = np.empty(2 * PART_BYTES, np.uint8), np.zeros(_FIRST_EVENTS, r.OUT)
        values = r.IMAGES_AT_A_TIME * 2 * r.VALUE_BYTES
        self._row = np.zeros(values + 3 * r.BITMAP_BYTES, np.uint8)
        self._kept: list[np.ndarray] = []
        self._state = np.zeros((), r.STATE)
        self._forget_tables()
        for field, value in {
                "base": self._mapped.address, "position": len(MAGIC), "file_end": self._end,
                "header_bytes": self._format.header_length, "checksum_bytes": self._format.checksum_length,
                "is_mariadb": self._format.flavour == "mariadb", "part_bytes": PART_BYTES,
                "compresses": compresses and knows_compressed(self._format),
                "makes_diffs": makes_diffs and knows_diffs(self._format),
                "is_decrypted": self._mapped.is_decrypted, "values": address_of(self._row),
                "bitmaps": address_of(self._row) + values, "completes": completes}.items():
            self._state[field] = value
        self._answers, self._answered = np.zeros(r.ANSWERS, r.ANSWER), dict[int, tuple[np.ndarray, ...]]()
        self._answers["key_length"] = -1
        if filtered is not None:
            self._empty = np.frombuffer(b"".join(_EMPTY), np.uint8)
            for field, value in {
                    "filters": 1, "ranges": address_of(filtered.ranges), "n_ranges": len(filtered.ranges),
                    "answers": address_of(self._answers), "empty": address_of(self._empty),
                    "empty_begin": len(_EMPTY[0]), "empty_bytes": len(self._empty)}.items():
                self._state[field] = value

    @property
    def emptied(self) -> int:
        """How many groups have lost all of their content."""
        return self._get("n_emptied")

    @property
    def dropped(self) -> int:
        """How many rows events of other groups are gone."""
        return self._get("n_dropped")

    def parts(self) -> Iterator[Packed]:
        """Yield the events, some groups at a time."""
        state = self._state
        for end in [*(at for at in self._file.redefined_at if at < self._end), self._end]:
            state["end"] = end
            self._forget_tables()
            while (status := self._run()) == Status.PART:
                yield self._part()
            self._check(status)
        yield self._part()

    def write(self, part: Packed, output: BinaryIO, position: int) -> int:
        """Write events at an offset of a file; how many bytes they are."""
        events = part.events
        target = np.empty(int(events["length"].sum()) + len(events) * MORE_BYTES, np.uint8)
        start = address_of(target)
        length = int(frame(address_of(events), len(events), start, position, self._format.header_length,
                           self._format.checksum_length)) - start
        output.write(target[:length].data)
        return length

    def _run(self) -> int:
        """Run the kernel until there is a part, or the end, or something is wrong."""
        state = self._state
        while True:
            for field, value in {
                    "ids": self._ids.address, "ids_mask": self._ids.mask, "tables": address_of(self._tables),
                    "out": address_of(self._memory), "room": len(self._memory), "events": address_of(self._events),
                    "most_events": len(self._events)}.items():
                state[field] = value
            status = int(rewrite(address_of(state)))
            if status == Status.NO_ROOM:
                self._grow()
            elif status == Status.NEW_TABLE_MAP:
                self._add_table_map()
            elif status == Status.NEED_CONTENTS:
                self._inflate()
            elif status == Status.NEED_DIFFS:
                self._make_diffs()
            elif status == Status.NEED_ANSWER:
                self._answer()
            elif status == Status.EMPTIED_XA:
                self._forget_prepared()
            else:
                return status

    def _part(self) -> Packed:
        """Return the output so far, whose memory is reused."""
        n = self._get("n_events")
        if self._filter is not None and self._format.flavour == "mariadb":
            self._put_gtid_list(self._filter.gtid_list)
        part = Packed(self._events[:n].copy(), self._memory[:self._get("used")], self._format.header_length)
        self._state["used"], self._state["n_events"] = 0, 0
        return part

    def _get(self, field: str) -> int:
        return int(self._state[field])

    def _forget_tables(self) -> None:
        """Ask again for the tables of all table maps."""
        self._ids, self._known = TableIds(), dict[bytes, tuple[int, np.ndarray]]()
        self._tables = np.zeros(16, r.TABLE)

    def _grow(self) -> None:
        """Make room for the next event, and for as much as there is."""
        used, n = self._get("used"), self._get("n_events")
        if self._get("wanted_bytes") > len(self._memory) - used:
            memory = np.empty(2 * len(self._memory) + self._get("wanted_bytes"), np.uint8)
            memory[:used] = self._memory[:used]
            self._memory = memory
        if n == len(self._events):
            self._events = np.concatenate([self._events, np.zeros_like(self._events)])

    def _add_table_map(self) -> None:
        event = self._event_body()
        table_id, body = int.from_bytes(event[:6], "little"), event[6:]
        if body not in self._known:
            self._known[body] = self._number(body), np.frombuffer(body, np.uint8)
        self._ids.set(table_id, *self._known[body])

    def _number(self, body: bytes) -> int:
        """Return the number of a new table."""
        number, position = len(self._known), self._get("position")
        if number == len(self._tables):
            self._tables = np.concatenate([self._tables, np.zeros_like(self._tables)])
        try:
            table_map = parse_table_map(body)
            images = self._images_of(table_map, position)
        except ApplierError as error:
            raise error.at(file=self._file.uri, position=position) from None
        if images is not None:
            columns, fills = images
            self._kept += images
            self._tables[number] = (1, len(columns), address_of(columns), int(columns["json"].max(initial=-1)) + 1,
                                    address_of(fills), len(fills), 0, 0, 0, 0, 0)
        if self._filter is not None:
            statements, table = self._filter.statements, self._tables[number]
            table["goes"] = not statements.keeps(table_map.database, table_map.table)
            if (new := statements.renamed(table_map.database)) != table_map.database:
                name = np.frombuffer(new.encode("utf-8", "surrogateescape") + b"\0", np.uint8)
                self._kept.append(name)
                table["database"], table["database_length"] = address_of(name), len(name) - 1
        return number

    def _put_gtid_list(self, gtids: GtidList) -> None:
        """Put the GTIDs of the output so far into the list at the file's head, and add those of this part."""
        events, header = self._events[:self._get("n_events")], self._format.header_length
        for number in np.flatnonzero(events["type"] == _GTID_LIST).tolist():
            start, end = int(events["start"][number]), int(events["start"][number] + events["length"][number])
            body = gtids.body_for(self._memory[start + header:end].tobytes())
            made = np.frombuffer(self._memory[start:start + header].tobytes() + body, np.uint8)
            used = self._get("used")
            if used + len(made) > len(self._memory):
                self._memory = np.concatenate([self._memory, np.empty(len(made), np.uint8)])
            self._memory[used:used + len(made)] = made
            events["start"][number], events["length"][number] = used, len(made)
            self._state["used"] = used + len(made)
        gtids.add(self._memory, events["start"][events["type"] == _MARIADB_GTID], header)

    def _answer(self) -> None:
        """Answer the decision about the statement where the kernel stopped."""
        assert self._filter is not None
        body = np.frombuffer(self._event_body(), np.uint8)
        key, once = body[THREAD_BYTES:], False
        try:
            if ctypes.string_at(self._get("event") + 4, 1)[0] == EventType.EXECUTE_LOAD_QUERY:
                action, made = self._filter.statements.of_load(body.tobytes()), None
            else:
                action, made = self._filter.statements.of(body.tobytes())
                once = is_xa(body.tobytes())
        except ApplierError as error:
            raise error.at(file=self._file.uri, position=self._get("position")) from None
        slot, value = int(slot_of(address_of(key), len(key))), np.frombuffer(made or b"", np.uint8)
        self._answers[slot] = (address_of(key), len(key), action, address_of(value) if made else 0, len(value), once)
        self._answered[slot] = body, value

    def _forget_prepared(self) -> None:
        """Keep in mind that an XA transaction has nothing to commit."""
        assert self._filter is not None
        prepared = parse_xa_prepare(self._body_at(self._get("emptied_prepares")))
        if not prepared.one_phase:
            self._filter.statements.emptied.add(prepared.xid)

    def _event_body(self) -> bytes:
        """Return the body of the event where the kernel stopped."""
        return self._body_at(self._get("event"))

    def _body_at(self, address: int) -> bytes:
        end = int.from_bytes(ctypes.string_at(address + 9, 4), "little")
        end -= 0 if self._get("within") else self._format.checksum_length
        return ctypes.string_at(address, end)[self._format.header_length:]

    def _inflate(self) -> None:
        self._inflater.advance(self._get("position"), self._end, within=self._get("within") != 0)
        contents = self._inflater.contents
        self._state["content"], self._state["contents_left"] = address_of(contents), len(contents)
        self._state["inner"] = 0

    def _make_diffs(self) -> None:
        """Make diffs of the documents that the event where the kernel stopped changes, if that is less in all."""
        state, pairs = self._state, np.zeros(64, r.PAIR)
        while (n := int(find_documents(address_of(state), address_of(pairs), len(pairs)))) > len(pairs):
            pairs = np.zeros(n, r.PAIR)
        made = self._diffs = DocumentDiffs(pairs[:max(n, 0)])
        n_json = int(self._tables["n_json"][self._get("table")])
        more = self._get("n_rows") * (1 + (n_json + 7) // 8)
        for field, value in {"pairs_of": self._get("event"), "pairs": address_of(made.pairs),
                             "n_pairs": n if made.saved > more else 0, "options_bytes": more}.items():
            state[field] = value

    def _check(self, status: int) -> None:
        """Raise ArchiveError for an error in the event where the kernel stopped."""
        what = {Status.BAD_LENGTH: "an event with an impossible length",
                Status.BAD_CHECKSUM: "an event whose checksum is wrong",
                Status.UNKNOWN_TABLE: "a rows event without a table map",
                Status.BAD_ROWS: "a row of a rows event contradicts its own lengths"}.get(Status(status))
        if what is not None:
            raise ArchiveError(what, file=self._file.uri, position=self._get("position"), errno=CORRUPT_EVENT,
                               hint="the file is damaged; copy it again from the server")
