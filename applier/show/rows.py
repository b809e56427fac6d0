"""The events of a file in order, those with rows with their row changes as texts."""

from collections.abc import Iterator
from dataclasses import dataclass

from applier.binlog.changes import DELETE, INSERT, UPDATE, ChangeBatch, ChangeReader, TableBinding
from applier.binlog.events import Event, read_events, read_format
from applier.binlog.format import EventType, FormatDescription
from applier.binlog.layout import ImageBuffers
from applier.binlog.mapping import MappedFile
from applier.binlog.table_map import TableMap, WireType
from applier.errors import ArchiveError
from applier.show.values import Column, column_texts, plans_for_show

_ROWS = {
    EventType.WRITE_ROWS_V1, EventType.UPDATE_ROWS_V1, EventType.DELETE_ROWS_V1,
    EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.DELETE_ROWS,
}  # fmt: skip
_UNREAD_ROWS = {
    EventType.PRE_GA_WRITE_ROWS, EventType.PRE_GA_UPDATE_ROWS, EventType.PRE_GA_DELETE_ROWS,
    EventType.PARTIAL_UPDATE_ROWS, EventType.TRANSACTION_PAYLOAD,
    EventType.WRITE_ROWS_COMPRESSED_V1, EventType.UPDATE_ROWS_COMPRESSED_V1, EventType.DELETE_ROWS_COMPRESSED_V1,
    EventType.WRITE_ROWS_COMPRESSED, EventType.UPDATE_ROWS_COMPRESSED, EventType.DELETE_ROWS_COMPRESSED,
}  # fmt: skip
# MariaDB's with mysql56_temporal_format=OFF: their length depends on their digits, which only the definition has.
_OLD_TEMPORAL = {WireType.TIMESTAMP, WireType.DATETIME, WireType.TIME}
_OPERATIONS = {INSERT: "insert", UPDATE: "update", DELETE: "delete"}

Image = list[tuple[int, str]]
"""A row image: (column number from 1 on, text) of the columns that it has."""


@dataclass(frozen=True)
class RowChange:
    """One row of a rows event. `operation`: insert, update, delete. An insert has no `before`, a delete no `after`."""

    operation: str
    table_map: TableMap
    before: Image | None
    after: Image | None


@dataclass(frozen=True)
class ShownEvent:
    """An event and its row changes. `note` says why they are not there where the event has some."""

    event: Event
    changes: list[RowChange]
    note: str | None = None


def shown_events(mapped: MappedFile) -> Iterator[ShownEvent]:
    """All events of a file in order. Raises ArchiveError where the file is damaged, after the events before that."""
    reader = _RowReader(mapped, read_format(mapped))
    for event in read_events(mapped):
        changes, note = [], None
        if event.type == EventType.TABLE_MAP:
            reader.walk(event)
        elif event.type in _ROWS:
            changes, note = reader.rows(event)
        elif event.type in _UNREAD_ROWS:
            note = f"the rows within {event.name} events are not shown"
        yield ShownEvent(event, changes, note)


class _RowReader:
    """Reads one event at a time; rows events refer to the TABLE_MAP events before them, so it is given these too."""

    def __init__(self, mapped: MappedFile, description: FormatDescription):
        self._flavour = description.flavour
        self._reader = ChangeReader(mapped, self._bind, checksum=description.checksum)
        self._changes: list[RowChange] | None = []  # None: what is decoded is dropped
        self._undecidable: set[str] = set()

    def walk(self, event: Event) -> None:
        self._reader.walk(event.position, event.position + event.size)

    def rows(self, event: Event) -> tuple[list[RowChange], str | None]:
        self._changes = []
        try:
            self.walk(event)
            self._reader.flush()
        except ArchiveError as reason:
            if reason.table not in self._undecidable:
                raise reason.at(position=event.position) from None
            self._changes = None
            self._reader.flush()
            return [], f"the log does not say how long {reason.table}'s TIME, DATETIME and TIMESTAMP values are"
        return self._changes, None

    def _bind(self, table_map: TableMap) -> TableBinding:
        if self._flavour == "mariadb" and not _OLD_TEMPORAL.isdisjoint(table_map.types):
            self._undecidable.add(table_map.name)
        plans = plans_for_show(table_map)
        columns = [Column(*column, self._flavour) for column in zip(table_map.types, table_map.metadata)]

        def take(batch: ChangeBatch) -> None:
            if self._changes is None:
                return
            before = _images(batch.before, batch.n_before, columns)
            after = _images(batch.after, batch.n_after, columns)
            parts = batch.kinds.tolist(), batch.before_rows.tolist(), batch.after_rows.tolist()
            self._changes += [
                RowChange(_OPERATIONS[kind], table_map, before[b] if b >= 0 else None, after[a] if a >= 0 else None)
                for kind, b, a in zip(*parts)
            ]

        return TableBinding(plans, list(plans), list(plans), take, rows=512)


def _images(buffers: ImageBuffers, rows: int, columns: list[Column]) -> list[Image]:
    """The images in some buffers: formatted column by column, then taken row by row."""
    images: list[Image] = [[] for _ in range(rows)]
    for number, (buffer, column) in enumerate(zip(buffers.columns, columns), 1):
        absent = buffer.absent_rows(rows)
        texts = column_texts(buffer.arrow(rows), column)
        if absent is None:
            for image, text in zip(images, texts):
                image.append((number, text))
        else:
            for image, text, is_absent in zip(images, texts, absent.to_pylist()):
                if not is_absent:
                    image.append((number, text))
    return images
