"""The events of a file in order, those with rows with their row changes as texts; compressed events with what is in
them."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from applier.binlog.archive.reader import FileEvent
from applier.binlog.events.contents import MappedTable
from applier.binlog.events.events import RowsHeader
from applier.binlog.events.format import EventType, FormatDescription
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import DELETE, INSERT, UPDATE, ChangeBatch, ChangeReader, TableBinding
from applier.binlog.rows.layout import ImageBuffers
from applier.errors import ArchiveError
from applier.io.mapping import MappedFile
from applier.jobs.show.diffs import diff_texts
from applier.jobs.show.values import Column, column_texts, plans_for_show
from applier.mysql.wire_types import WireType

_PRE_GA_ROWS = {EventType.PRE_GA_WRITE_ROWS, EventType.PRE_GA_UPDATE_ROWS, EventType.PRE_GA_DELETE_ROWS}
# MariaDB's with mysql56_temporal_format=OFF: their length depends on their digits, which only the definition has.
OLD_TEMPORAL = {WireType.TIMESTAMP, WireType.DATETIME, WireType.TIME}
_OPERATIONS = {INSERT: "insert", UPDATE: "update", DELETE: "delete"}

_CHUNK_BYTES = 1 << 20

Image = dict[str, str]
"""A row image: the texts of the columns that it has, by name ("@1", "@2", …). A JSON diff's has lines."""


@dataclass(frozen=True)
class RowChange:
    """One row of a rows event. `operation`: insert, update, delete. An insert has no `before`, a delete no `after`."""

    operation: str
    table_map: TableMap
    before: Image | None
    after: Image | None


@dataclass(frozen=True)
class ShownEvent:
    """An event and its row changes. `note` says why they are not there where the event has some. `number` is the place
    of an event within a compressed one, from 1."""

    event: FileEvent
    changes: list[RowChange]
    note: str | None = None
    number: int | None = None


class RowReader:
    """Decodes and formats the rows of many events at once, column by column, and hands them to their events.

    Rows of tables that `wanted` says no to are passed over.
    """

    def __init__(self, mapped: MappedFile, description: FormatDescription,
                 wanted: Callable[[TableMap], bool] = lambda _: True):
        self._flavour, self._wanted = description.flavour, wanted
        self._reader = ChangeReader(mapped, self._bind, checksum=description.checksum,
                                    header_length=description.header_length)
        # by the event's position, then by the table map's body, a list for each rows event; None: drop what is decoded
        self._changes: dict[int, dict[bytes, deque[list[RowChange]]]] | None = {}
        self._undecidable: set[str] = set()

    def shown(self, events: Iterator[FileEvent]) -> Iterator[ShownEvent]:
        """All of these, which follow one another. Raises ArchiveError where the file is damaged, after those before."""
        for chunk in _chunks(events):
            yield from self._show(chunk)

    def learn(self, table_map: FileEvent) -> None:
        """See a table map that comes before what is shown next."""
        self._changes = None
        self._reader.walk(table_map.position, table_map.position + table_map.size)

    def _show(self, chunk: list[FileEvent]) -> Iterator[ShownEvent]:
        """Some events. If there is something wrong with one, they are done again one at a time, so that those before it
        are shown."""
        if not chunk:
            return
        self._changes = {}
        try:
            self._reader.walk(chunk[0].position, chunk[-1].position + chunk[-1].size)
            self._reader.flush()
        except ArchiveError as reason:
            self._changes = None
            self._reader.flush()
            if len(chunk) > 1:
                for event in chunk:
                    yield from self._show([event])
            elif reason.table in self._undecidable:
                yield ShownEvent(chunk[0], [], f"the log does not say how long {reason.table}'s temporal values are")
            else:
                raise reason.at(position=chunk[0].position) from None
            return
        for event in chunk:
            changes = self._changes.pop(event.position, {})
            if event.type == EventType.TRANSACTION_PAYLOAD:
                yield ShownEvent(event, [])
                yield from _inner_events(event, changes)
            else:
                note = f"the rows within {event.name} events are not shown" if event.type in _PRE_GA_ROWS else None
                yield ShownEvent(event, [row for rows in changes.values() for part in rows for row in part], note)

    def _bind(self, table_map: TableMap) -> TableBinding | None:
        if not self._wanted(table_map):
            return None
        if self._flavour == "mariadb" and not OLD_TEMPORAL.isdisjoint(table_map.types):
            self._undecidable.add(table_map.name)
        plans = plans_for_show(table_map)
        columns = [Column(*column, self._flavour) for column in zip(table_map.types, table_map.metadata)]

        def take(batch: ChangeBatch) -> None:
            if self._changes is None:
                return
            before = _images(batch.before, batch.n_before, columns, {})
            after = _images(batch.after, batch.n_after, columns, diff_texts(batch, binding.layouts))
            parts = (part.tolist() for part in (batch.places, batch.kinds, batch.rows, batch.before_rows,
                                                batch.after_rows))
            for place, kind, row, b, a in zip(*parts):
                images = before[b] if b >= 0 else None, after[a] if a >= 0 else None
                events = self._changes.setdefault(place, {}).setdefault(table_map.body, deque())
                if row == 0:
                    events.append([])
                events[-1].append(RowChange(_OPERATIONS[kind], table_map, *images))

        binding = TableBinding(plans, list(plans), list(plans), take)
        return binding


def _chunks(events: Iterator[FileEvent]) -> Iterator[list[FileEvent]]:
    """Events that follow one another, about a megabyte at a time; what precedes an error comes before it."""
    chunk: list[FileEvent] = []
    try:
        for event in events:
            chunk.append(event)
            if event.position - chunk[0].position >= _CHUNK_BYTES:
                yield chunk
                chunk = []
    except ArchiveError:
        yield chunk
        raise
    yield chunk


def _inner_events(payload: FileEvent, changes: dict[bytes, deque[list[RowChange]]]) -> Iterator[ShownEvent]:
    """The events within one, each with its rows: a table's rows events come in their order."""
    bodies: dict[int, bytes] = {}
    for number, event in enumerate(payload.events(), 1):
        content = event.content
        rows: list[RowChange] = []
        if isinstance(content, MappedTable):
            bodies[content.table_id] = content.table.body
        elif isinstance(content, RowsHeader) and _has_rows(event, content):
            of_table = changes.get(bodies.get(content.table_id, b""))
            rows = of_table.popleft() if of_table else []
        yield ShownEvent(event, rows, number=number)


def _has_rows(event: FileEvent, header: RowsHeader) -> bool:
    """An insert of no column at all is one row, and takes no byte."""
    if header.rows_offset < len(event.body):
        return True
    if header.before is not None or header.after is None:
        return False
    return not int.from_bytes(header.after, "little") & (1 << header.n_columns) - 1


def _images(
    buffers: ImageBuffers, rows: int, columns: list[Column], diffs: dict[tuple[int, int], str]
) -> list[Image]:
    """The images in some buffers: formatted column by column, then taken row by row. `diffs`: what rows have in columns
    that are absent for the buffers."""
    if not columns:
        return [{} for _ in range(rows)]
    names = [f"@{number}" for number in range(1, len(columns) + 1)]
    texts: list[Sequence[str | None]] = []
    partial = False
    for number, (buffer, column) in enumerate(zip(buffers.columns.values(), columns)):
        texts.append(column_texts(buffer.arrow(rows), column))
        absent = buffer.absent_rows(rows)
        if absent is not None:
            partial = True
            gone = zip(texts[-1], absent.to_pylist())
            texts[-1] = [diffs.get((row, number)) if absent else text for row, (text, absent) in enumerate(gone)]
    if not partial:
        return [dict(zip(names, row)) for row in zip(*texts)]
    return [{name: text for name, text in zip(names, row) if text is not None} for row in zip(*texts)]
