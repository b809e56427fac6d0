"""Writes binlog files that real readers accept: framing, checksums, positions, event groups.

Tests and benchmarks make their own logs with it. Two ways to write transactions:

    with BinlogWriter("binlog.000001") as log:
        log.query("CREATE TABLE shop.item (id int PRIMARY KEY, name varchar(40))")
        with log.transaction():                      # any number of statements of many rows each
            log.rows(RowChanges(item, after={"id": …, "name": …}))
        log.transactions([update, update, delete])   # n transactions at once: number i has row i of each of the changes

Both are vectorised over rows; `transactions` over events, too. Checksums are computed one event at a time, by zlib,
so that the project's own CRC is tested against another one.
"""

import os
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa

from applier.binlog.events.format import (
    CHECKSUM_LENGTH,
    HEADER,
    HEADER_LENGTH,
    IGNORABLE_FLAG,
    MAGIC,
    NO_FOREIGN_KEY_CHECKS_FLAG,
    EventType,
)
from applier.schema.definition import TableDefinition
from applier.writer import event_encoder
from applier.writer.column_encoder import Cells
from applier.writer.compressed import payload, rows_event
from applier.writer.row_encoder import STATEMENT_END, RowChanges, join
from applier.writer.wire_columns import encode_table_map

SOURCE = uuid.UUID("00000000-0000-4000-8000-000000000001")
"""The server that a log is of, by default."""

_SUPPRESS_USE_FLAG = 0x8
_EVENT_BYTES = 8192  # rows of a statement are cut into events of this size (binlog_row_event_max_size)
_BULK_BYTES = 32 << 20
_HEADERS = np.dtype(
    [("timestamp", "<u4"), ("type", "u1"), ("server_id", "<u4"), ("size", "<u4"), ("end", "<u4"), ("flags", "<u2")]
)


@dataclass(frozen=True)
class _Event:
    """One kind of event with a body for each of n transactions (or one)."""

    type: int
    bodies: Cells
    flags: int = 0

    def sizes(self, count: int) -> np.ndarray:
        if isinstance(self.bodies, np.ndarray):
            return np.full(count, self.bodies.shape[1])
        return np.diff(np.frombuffer(self.bodies.buffers()[1], np.int32)[self.bodies.offset :][: count + 1])


class BinlogWriter:
    """A binlog file being written; also a context manager that closes it.

    `gtids` is "on", "anonymous" (MySQL's gtid_mode=OFF) or "none" (servers before 5.6: groups from BEGIN to XID).
    With `compress`, a transaction is a payload (MySQL), or its longer rows events are compressed (MariaDB).
    Without `foreign_key_checks`, rows of `rows` are changed as with foreign_key_checks=0.
    `timestamp`, in epoch seconds, is what the next events get; set it at will. `position` is where the next one starts.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        flavour: str = "mysql",
        checksum: bool = True,
        server_id: int = 1,
        gtids: str = "on",
        timestamp: int = 1_700_000_000,
        source: uuid.UUID = SOURCE,
        executed: int = 0,
        compress: bool = False,
        foreign_key_checks: bool = True,
    ) -> None:
        if flavour not in event_encoder.SERVER_VERSIONS or gtids not in ("on", "anonymous", "none"):
            raise ValueError(f"unknown flavour or gtids: {flavour}, {gtids}")
        if flavour == "mariadb" and gtids == "anonymous":
            raise ValueError("MariaDB has no anonymous GTIDs")
        self.path, self.flavour, self.checksum, self.server_id = os.fspath(path), flavour, checksum, server_id
        self.gtids, self.timestamp, self.source = gtids, timestamp, source
        self.compress, self.foreign_key_checks = compress, foreign_key_checks
        self.executed = executed  # transactions so far, those of earlier files included
        self._in_file = 0
        self._framing = HEADER_LENGTH + CHECKSUM_LENGTH * checksum
        self._table_ids: dict[TableDefinition, int] = {}
        self._group: list[tuple[int, bytes, int]] | None = None
        self._file = open(self.path, "wb")
        self._file.write(MAGIC)
        self.position = len(MAGIC)
        self._open_file()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file as it stands; without a ROTATE it is the newest of its archive."""
        self._file.close()

    def flush(self) -> None:
        """Have readers of the file see all that is written so far."""
        self._file.flush()

    def rotate(self, path: str | os.PathLike[str]) -> "BinlogWriter":
        """End this file with a ROTATE to `path`, in the same directory, and open that."""
        self._emit(EventType.ROTATE, event_encoder.rotate(os.path.basename(path)))
        self.close()
        return BinlogWriter(
            path,
            flavour=self.flavour,
            checksum=self.checksum,
            server_id=self.server_id,
            gtids=self.gtids,
            timestamp=self.timestamp,
            source=self.source,
            executed=self.executed,
            compress=self.compress,
            foreign_key_checks=self.foreign_key_checks,
        )

    def event(self, kind: int, body: bytes, flags: int = 0) -> None:
        """Any event, in the open group or by itself: header and checksum are added, nothing is checked."""
        if self._group is not None:
            self._group.append((kind, body, flags))
        else:
            self._emit(kind, body, flags)

    def query(self, sql: str, database: str = "", sql_mode: int = event_encoder.DEFAULT_SQL_MODE) -> None:
        """A statement: DDL in an event group of its own, or text inside an open transaction."""
        body = event_encoder.query(sql, database, self.flavour, sql_mode)
        if self._group is not None:
            self._group.append((EventType.QUERY, body, 0))
            return
        self.emit_gtid(len(body) + self._framing, statement=True)
        self._emit(EventType.QUERY, body)

    @contextmanager
    def transaction(self, end: str = "commit") -> Iterator[None]:
        """Write the events of the block as an event group: XID ends it, or ROLLBACK with `end="rollback"`. Nothing on
        an error."""
        if self._group is not None:
            raise ValueError("transactions do not nest")
        self._group = [] if self._begins_with_gtid else [self._begin()]
        try:
            yield
            group = self._group
        finally:
            self._group = None
        if end == "commit":
            group.append((EventType.XID, (self.executed + 1).to_bytes(8, "little"), 0))
        else:
            group.append((EventType.QUERY, event_encoder.query("ROLLBACK", "", self.flavour), 0))
        if self.compress and self.flavour == "mysql":
            group = [(EventType.TRANSACTION_PAYLOAD, payload(b"".join(map(self._unchecked, group))), 0)]
        self.emit_gtid(sum(len(body) + self._framing for _, body, _ in group), statement=False)
        for kind, body, flags in group:
            self._emit(kind, body, flags)

    def rows(self, changes: RowChanges) -> None:
        """One statement's changes in the open transaction: a TABLE_MAP, then rows events of about 8 KB each."""
        if self._group is None:
            raise ValueError("row changes belong in a transaction")
        table_id = self._table_id(changes.table)
        self.event(*self._table_map(changes.table))
        rows = changes.rows()
        offsets = np.frombuffer(rows.buffers()[1], np.int32)[rows.offset :][: len(rows) + 1]
        data = memoryview(rows.buffers()[2])
        first = 0
        while first < len(rows):
            after = int(np.searchsorted(offsets, offsets[first] + _EVENT_BYTES, "right")) - 1
            after = min(max(after, first + 1), len(rows))
            flags = 0 if self.foreign_key_checks else NO_FOREIGN_KEY_CHECKS_FLAG
            header = changes.header(table_id, flags | STATEMENT_END if after == len(rows) else flags)
            kind, body = changes.event_type, bytes(data[offsets[first] : offsets[after]])
            if self.compress and self.flavour == "mariadb":
                self.event(*rows_event(kind, header, body))
            else:
                self.event(kind, header + body)
            first = after

    def transactions(self, changes: Sequence[RowChanges], timestamps: np.ndarray | None = None) -> None:
        """Write as many transactions as each of the changes has rows: transaction i makes row i of each, in this order.

        `timestamps` are the epoch seconds of each; without them all get the writer's own.
        """
        if self.compress:
            raise ValueError("transactions that are written at once are not compressed")
        counts = {len(change) for change in changes}
        if len(counts) != 1:
            raise ValueError(f"changes need the same number of rows each, not {sorted(counts)}")
        count = counts.pop()
        if timestamps is None:
            timestamps = np.full(count, self.timestamp)
        encoded = [change.rows() for change in changes]
        size = sum(rows.nbytes for rows in encoded) + 1
        step = max(1, min(count, count * _BULK_BYTES // size))
        for first in range(0, count, step):
            self._bulk(changes, [rows.slice(first, step) for rows in encoded], timestamps[first : first + step])

    def _bulk(self, changes: Sequence[RowChanges], encoded: list[pa.BinaryArray], timestamps: np.ndarray) -> None:
        count = len(timestamps)
        numbers = np.arange(self.executed + 1, self.executed + count + 1)
        events = [] if self._begins_with_gtid else [self._constant(*self._begin(), count)]
        for change, rows in zip(changes, encoded, strict=True):
            header = np.frombuffer(change.header(self._table_id(change.table)), np.uint8)
            events.append(self._constant(*self._table_map(change.table), count))
            events.append(_Event(change.event_type, join([np.broadcast_to(header, (count, len(header))), rows], count)))
        events.append(_Event(EventType.XID, np.ascontiguousarray(numbers, "<i8").view(np.uint8).reshape(-1, 8)))
        if self.gtids != "none":
            rest = np.sum([event.sizes(count) + self._framing for event in events], axis=0)
            events.insert(0, self._gtid_event(numbers, timestamps, rest, statement=False))
        self._write_framed(events, timestamps)
        self.executed += count
        self._in_file += count

    def _write_framed(self, events: list[_Event], timestamps: np.ndarray) -> None:
        """Interleave the events transaction by transaction, each with its header and checksum."""
        count = len(timestamps)
        sizes = np.stack([event.sizes(count) + self._framing for event in events], axis=1)
        ends = np.cumsum(sizes.ravel()).reshape(sizes.shape)
        parts: list[Cells] = []
        for index, event in enumerate(events):
            headers = np.empty(count, _HEADERS)
            headers["timestamp"], headers["type"], headers["server_id"] = timestamps, event.type, self.server_id
            headers["size"], headers["end"], headers["flags"] = (
                sizes[:, index],
                self.position + ends[:, index],
                event.flags,
            )
            parts += [headers.view(np.uint8).reshape(count, HEADER_LENGTH), event.bodies]
            if self.checksum:
                parts.append(np.zeros((count, CHECKSUM_LENGTH), np.uint8))
        data: np.ndarray = np.frombuffer(join(parts, count).buffers()[2], np.uint8)[: ends[-1, -1]].copy()
        if self.checksum:
            view, until = data.data, (ends - CHECKSUM_LENGTH).ravel()
            starts = (ends - sizes).ravel()
            sums = [zlib.crc32(view[a:b]) for a, b in zip(starts.tolist(), until.tolist(), strict=True)]
            data[until[:, None] + np.arange(CHECKSUM_LENGTH)] = np.array(sums, "<u4").view(np.uint8).reshape(-1, 4)
        self._file.write(data.data)
        self.position += len(data)

    def _open_file(self) -> None:
        """Write the first events of a server's file. The format description has a checksum even if no other event has
        one."""
        body = event_encoder.format_description(self.flavour, self.checksum, 0 if self.executed else self.timestamp)
        self._emit(EventType.FORMAT_DESCRIPTION, body, always_checked=True)
        executed = self.executed if self.gtids == "on" else 0
        if self.flavour == "mariadb":
            self._emit(EventType.GTID_LIST, event_encoder.gtid_list(self.server_id, executed))
            self._emit(EventType.BINLOG_CHECKPOINT, event_encoder.binlog_checkpoint(os.path.basename(self.path)))
        elif self.gtids != "none":
            self._emit(EventType.PREVIOUS_GTIDS, event_encoder.previous_gtids(self.source, executed), IGNORABLE_FLAG)

    @property
    def _begins_with_gtid(self) -> bool:
        """MariaDB's GTID event is its BEGIN, too."""
        return self.flavour == "mariadb" and self.gtids == "on"

    def _begin(self) -> tuple[int, bytes, int]:
        return EventType.QUERY, event_encoder.query("BEGIN", "", self.flavour), _SUPPRESS_USE_FLAG

    def _table_id(self, table: TableDefinition) -> int:
        return self._table_ids.setdefault(table, 100 + len(self._table_ids))

    def _table_map(self, table: TableDefinition) -> tuple[int, bytes, int]:
        if table.flavour != self.flavour:
            raise ValueError(f"{table.full_name} is a table of {table.flavour}, the log is of {self.flavour}")
        return EventType.TABLE_MAP, event_encoder.table_map(self._table_id(table), encode_table_map(table)), 0

    def _unchecked(self, event: tuple[int, bytes, int]) -> bytes:
        """An event as a payload has it: without a checksum."""
        kind, body, flags = event
        return HEADER.pack(self.timestamp, kind, self.server_id, HEADER_LENGTH + len(body), 0, flags) + body

    def _constant(self, kind: int, body: bytes, flags: int, count: int) -> _Event:
        return _Event(kind, np.broadcast_to(np.frombuffer(body, np.uint8), (count, len(body))), flags)

    def _gtid_event(self, numbers: np.ndarray, timestamps: np.ndarray, rest: np.ndarray, *, statement: bool) -> _Event:
        if self.flavour == "mariadb":
            return _Event(
                EventType.MARIADB_GTID, event_encoder.mariadb_gtid(numbers, statement=statement), _SUPPRESS_USE_FLAG
            )
        sequence = self._in_file + 1 + np.arange(len(numbers))
        anonymous = self.gtids == "anonymous"
        bodies = event_encoder.gtid(
            uuid.UUID(int=0) if anonymous else self.source,
            numbers * (not anonymous),
            sequence,
            timestamps,
            rest,
            self._framing,
            statement=statement,
        )
        return _Event(EventType.ANONYMOUS_GTID if anonymous else EventType.GTID, bodies)

    def emit_gtid(self, rest: int, *, statement: bool) -> None:
        if self.gtids != "none":
            event = self._gtid_event(
                np.array([self.executed + 1]), np.array([self.timestamp]), np.array([rest]), statement=statement
            )
            self._write_framed([event], np.array([self.timestamp]))
        self.executed += 1
        self._in_file += 1

    def _emit(self, kind: int, body: bytes, flags: int = 0, *, always_checked: bool = False) -> None:
        checked = self.checksum or always_checked
        size = HEADER_LENGTH + len(body) + CHECKSUM_LENGTH * checked
        end = (self.position + size) & 0xFFFFFFFF
        event = HEADER.pack(self.timestamp, kind, self.server_id, size, end, flags) + body
        self._file.write(event + zlib.crc32(event).to_bytes(4, "little") if checked else event)
        self.position += size
