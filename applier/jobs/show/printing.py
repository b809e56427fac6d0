"""Prints ranges of a file, as text or as JSON lines: a kernel prints frequent events, and Python the rare ones."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Literal

import numpy as np
import pyarrow as pa

from applier.binlog.archive.reader import file_events
from applier.binlog.events.events import Query, encrypted
from applier.binlog.events.format import GTID_EVENTS, EventType, event_name
from applier.binlog.events.query import sql_offset
from applier.binlog.events.statement_events import FileBlock
from applier.binlog.events.table_map import TableMap
from applier.errors import ArchiveError, UsageError
from applier.io.mapping import MappedFile
from applier.jobs.show.context import Context, settings
from applier.jobs.show.details import details, event_time, two_phase_alter
from applier.jobs.show.event_walk import EventWalk
from applier.jobs.show.json_lines import event_line, statement_fields
from applier.jobs.show.kernels import walk_records as r
from applier.jobs.show.kernels.events_text_kernel import print_events, skip_event
from applier.jobs.show.kernels.fixed_texts import fixed_texts, text_records
from applier.jobs.show.kernels.value_kernel import STACK_BYTES
from applier.jobs.show.kernels.walk_records import Status
from applier.jobs.show.later_text import LaterText
from applier.jobs.show.load_files import LoadFiles
from applier.jobs.show.printed_tables import PrintedTables, encoded, span_of, text_bytes
from applier.jobs.show.style import Style
from applier.mysql.wire_types import WireType
from jsondiff import wire
from jsondiff.binary import JsonError, to_text
from jsondiff.diff import DiffError
from jsondiff.sql import to_sql
from keysearch.addresses import address_of

Form = Literal["text", "json"]
FIRST_BYTES = 1 << 20
_GUARD = 256
_TYPE_AT = 4
"""Where an event's type is in its header."""
_BETWEEN_GROUPS = *GTID_EVENTS, EventType.ROTATE, EventType.STOP
_PRE_GA_ROWS = (EventType.PRE_GA_WRITE_ROWS, EventType.PRE_GA_UPDATE_ROWS, EventType.PRE_GA_DELETE_ROWS)
_VARIABLES = EventType.INTVAR, EventType.RAND, EventType.USER_VAR
_ROWS = frozenset((*range(20, 26), 30, 31, 32, 39, *range(166, 172)))


class EventPrinter:
    """Prints one file; `write` takes the bytes, in parts. Context that was printed is not repeated."""

    def __init__(self, mapped: MappedFile, form: Form, write: Callable[[bytes], object], style: Style | None = None
                 ) -> None:
        style = style or Style()
        self._write, self._is_json, self._style = write, form == "json", style
        self._walk = EventWalk(mapped, self._add_table, inflates_all=True)
        self._context = Context(self._walk.format.flavour)
        self._later = LaterText(self._walk)
        self._loads = LoadFiles(style.local_load) if style.local_load is not None and form == "text" else None
        self._tables = PrintedTables(self._walk.format.flavour, self._is_json)
        self._texts, self._names = fixed_texts(), text_records(_names(self._is_json))
        self._times = np.zeros(3 * r.N_TIMES, r.TIME)
        self._times["second"] = -1
        self._stack = np.zeros(STACK_BYTES, np.uint8)
        self._statements = np.zeros(r.N_STATEMENTS, r.STATEMENT)
        self._statement_texts: dict[int, list[np.ndarray]] = {}
        self._span_texts: dict[str, np.ndarray] = {}
        self._diffs: list[np.ndarray] = []
        self._diff_records = np.zeros(0, r.SPAN)
        self._walk.set(is_json=self._is_json, as_mysql=self._walk.format.flavour == "mysql",
                       texts=address_of(self._texts), names=address_of(self._names), times=address_of(self._times),
                       stack=address_of(self._stack), statements=address_of(self._statements),
                       tables=address_of(self._tables.records), is_short=style.short, shows_rows=style.shows_rows,
                       shows_types=style.verbosity > 1 and not self._is_json, shows_gtids=not style.skip_gtids,
                       shows_statements=style.shows_statements, shows_binlog=style.shows_binlog,
                       is_never=style.is_never, extracts=self._loads is not None, domain=-1, server=-1, is_serial=-1)
        self._use_room(FIRST_BYTES)
        self._use_document(FIRST_BYTES)

    def print(self, start: int, end: int, shown_from: int) -> None:
        """Print the events in [start, end) from `shown_from` on, behind the GTID of the group that this is in; `start`
        must be where a group, or the file, begins. Raises ArchiveError where the file is damaged, after all events
        before that."""
        first = self.learn(start, end, shown_from)
        shown = r.range_of(first, end)
        if start < first < end and self._type_at(start) in GTID_EVENTS and self._type_at(first) not in _BETWEEN_GROUPS:
            shown = np.concatenate([r.range_of(start, start + 1), shown])
        self.print_ranges(shown)

    def _type_at(self, position: int) -> int:
        return int(self._walk.mapped.array[position + _TYPE_AT])

    def learn(self, start: int, end: int, shown_from: int) -> int:
        """Register the table maps in [start, end) before the first event to show; returns that event's position."""
        for event in file_events(self._walk.mapped, start, end):
            if event.position >= shown_from:
                return event.position
            if event.type == EventType.TABLE_MAP:
                self._walk.register(bytes(event.body))
        return end

    def print_ranges(self, ranges: np.ndarray) -> None:
        """Print the events in these ranges (RANGE[n]); the maps of all their tables are registered."""
        self._walk.begin(ranges)
        serve = {
            Status.FULL: self._make_room,
            Status.NEED_TIME: self._add_time,
            Status.NEED_SETTINGS: self._add_settings,
            Status.NEED_STATEMENT: self._add_statement,
            Status.NEED_DOCUMENT: lambda: self._use_document(self._walk.get("wanted_bytes")),
            Status.NEED_DIFF: self._add_diff,
            Status.NEED_DETAILS: self._print_event,
            Status.NEED_NOTE: self._print_note,
            Status.BAD_ROWS: self._refuse_rows,
            Status.BAD_VALUE: self._refuse_value,
            Status.UNKNOWN_TABLE: self._refuse_table,
            Status.FULL_LATER: self._later.make_room,
            Status.STATEMENT_ENDS: self._end_statement,
            Status.ROWS_IN_NEVER: self._refuse_base64,
        }
        try:
            while (status := self._walk.run(print_events)) != Status.DONE:
                serve[status]()
        except ArchiveError:
            self._end_statement()
            raise
        finally:
            self._flush()

    def end(self) -> None:
        """Print the text that waits for the end of a statement, and the statements that restore a server's session."""
        if self._is_json:
            return
        self._end_statement()
        lines = []
        if self._walk.format.flavour == "mysql":
            if self._walk.get("is_open"):
                lines.append("ROLLBACK /* added by mysqlbinlog */ /*!*/;\n")
            if self._walk.get("has_gtid"):
                lines.append("SET @@SESSION.GTID_NEXT= 'AUTOMATIC' /* added by mysqlbinlog */ /*!*/;\n")
        self._write("".join(lines).encode())

    # ---- requests of the kernel

    def _end_statement(self) -> None:
        self._flush()
        for part in self._later.taken():
            self._write(part)

    def _use_room(self, size: int) -> None:
        self._room = np.empty(size + _GUARD, np.uint8)
        self._walk.set(out=address_of(self._room), out_end=address_of(self._room) + size)

    def _make_room(self) -> None:
        if not self._flush():  # one event or row is larger than all the room
            self._use_room(2 * len(self._room))

    def _use_document(self, size: int) -> None:
        self._document = np.empty(size + _GUARD, np.uint8)
        self._walk.set(document=address_of(self._document), document_bytes=size)

    def _flush(self) -> bool:
        """Hand over the printed text; True if there was any."""
        length = self._walk.get("out") - address_of(self._room)
        if length:
            text = self._room[:length].tobytes()
            self._write(_as_json(text) if self._is_json else text)
            self._walk.set(out=address_of(self._room))
        return length > 0

    def _add_time(self) -> None:
        second = self._walk.get("detail")
        local = datetime.fromtimestamp(second, UTC).astimezone()
        zone = (local.tzname() or "").encode()[:60]
        time = self._times[self._walk.get("wanted_bytes")]
        time["second"], time["zone_length"] = second, len(zone)
        for field, text in (("short", event_time(second).encode()), ("zone", zone),
                            ("long", f"{local:%Y-%m-%d %H:%M:%S}".encode())):
            time[field][:len(text)] = np.frombuffer(text, np.uint8)

    def _add_table(self, table: TableMap) -> int:
        """Register a new table's record; return its number."""
        number = self._tables.add(table)
        self._walk.set(tables=address_of(self._tables.records))
        return number

    def _add_settings(self) -> None:
        """The text of the current statement's context."""
        event = self._walk.event()
        query: Query = event.content
        said, is_lasting = settings(query, event.flags, self._context)
        instead = two_phase_alter(event, self._style)
        if event.type == EventType.EXECUTE_LOAD_QUERY and self._loads is not None:
            instead = self._loads.statement(bytes(event.body), query)
        if instead is not None:
            self._set_spans(instead=instead)
            self._walk.set(has_instead=True)
        fixed = 26 if event.type == EventType.EXECUTE_LOAD_QUERY else 13
        length = int.from_bytes(event.body[11:13], "little")
        self._set_spans(title_more=said.title, use=said.use, micros=said.micros, settings=said.lines,
                         database=self._context.database, context=bytes(event.body[fixed:fixed + length]))
        if not is_lasting:
            self._walk.set(context=(0, -1))
        self._walk.set(has_settings=True)

    def _add_statement(self) -> None:
        """Register the context of the current statement, as JSON."""
        event, number = self._walk.event(), self._walk.get("wanted_bytes")
        query: Query = event.content
        context = bytes(event.body[8:sql_offset(event.body)])
        texts = [text_bytes(text) for text in (context, *statement_fields(query))]
        self._statement_texts[number] = texts
        self._statements[number] = tuple(map(span_of, texts))

    def _set_spans(self, **texts: str | bytes) -> None:
        """Put the addresses and lengths of texts into fields of the state."""
        for field, text in texts.items():
            self._span_texts[field] = text_bytes(text)
            self._walk.set(**{field: span_of(self._span_texts[field])})

    def _add_diff(self) -> None:
        """Append the SQL of a JSON diff to the row's (JD-SHOW)."""
        column, length = f"@{self._walk.get('column') + 1}", self._walk.get("wanted_bytes")
        if length < 0:
            raise self._walk.corrupt(f"column {column}: a NULL that is marked as a JSON diff")
        try:
            text = to_sql(wire.decode(ctypes.string_at(self._walk.get("detail"), length)), column)
        except DiffError as reason:
            raise self._walk.corrupt(f"column {column}: {reason.what}") from None
        known = self._diffs[:self._walk.get("n_diffs")]
        self._diffs = [*known, text_bytes(text if self._is_json else text.replace("\n", "\n###      "))]
        self._diff_records = np.array([span_of(diff) for diff in self._diffs], r.SPAN)
        self._walk.set(diffs=address_of(self._diff_records), n_diffs=len(self._diffs))

    # ---- events that the kernel does not print

    def _print_event(self) -> None:
        """Print an event's content after its header line, or its line of JSON."""
        event = self._walk.event()
        if self._is_json:
            self._put(event_line(event, self._walk.number, None))
        else:
            title, lines = details(event, self._context, self._style)
            if self._loads is not None and isinstance(event.content, FileBlock):
                self._loads.add(event.content, begins=event.type == EventType.BEGIN_LOAD_QUERY)
            self._set_spans(database=self._context.database)
            if event.type in _VARIABLES and self._context.flavour == "mysql" and not self._style.short:
                self._keep_head("\n".join([title, *lines, ""]))
            else:
                self._put_details(title, lines)
        if event.type == EventType.START_ENCRYPTION and not self._walk.mapped.is_decrypted:
            raise encrypted(self._walk.mapped.uri, event.position)

    def _put_details(self, title: str, lines: list[str]) -> None:
        """Print the end of a header line and the lines below it; without headers, the lines that are no comments."""
        if self._style.short:
            lines = [line for line in lines if not line.startswith("#") or line.startswith("# ")] if title else []
            self._put("\n".join(lines), is_line=bool(lines))
        else:
            if not title:
                self._walk.set(header_end=self._walk.get("header_end") - 1)
            self._put("\n".join([title, *lines]))

    def _keep_head(self, text: str) -> None:
        """Have the header line and the text after it wait for the statement to which they belong."""
        start, end = (self._walk.get(field) - address_of(self._room) for field in ("header_start", "header_end"))
        self._later.add_head(self._room[start:end].tobytes() + encoded(text))
        self._walk.set(out=self._walk.get("header_start"))
        skip_event(self._walk.mapped.address, self._walk.address)

    def _print_note(self) -> None:
        """Print why an event's rows are not shown after its title, or its line of JSON."""
        event = self._walk.event()
        table = self._tables[self._walk.get("table")].name if event.type not in _PRE_GA_ROWS else ""
        note = (f"the log does not say how long {table}'s temporal values are" if table else
                f"the rows within {event.name} events are not shown")
        self._put(event_line(event, self._walk.number, note) if self._is_json else f"# {note}")

    def _put(self, text: str, *, is_line: bool = True) -> None:
        if not self._is_json and not self._style.short:
            self._walk.set(out=self._walk.get("header_end"))
        self._flush()
        self._write(encoded(text + "\n" * is_line))
        self._walk.set(n_inner_printed=self._walk.get("n_inner_printed") + 1)
        skip_event(self._walk.mapped.address, self._walk.address)

    # ---- errors

    def _refuse_rows(self) -> None:
        raise self._walk.corrupt("rows of a rows event contradict their own lengths")

    def _refuse_base64(self) -> None:
        raise UsageError("the log has row changes, which are not shown with --base64-output never",
                         position=self._walk.position, hint="give decode-rows, or auto for BINLOG statements")

    def _refuse_table(self) -> None:
        raise self._walk.corrupt("a rows event whose table map is not there")

    def _refuse_value(self) -> None:
        table, column = self._tables[self._walk.get("table")], self._walk.get("column")
        what = "a value that its type does not have"
        if table.types[column] == WireType.JSON:
            document = ctypes.string_at(self._walk.get("detail"), self._walk.get("wanted_bytes"))
            try:
                to_text(pa.array([document]))
            except JsonError as reason:
                what = f"a JSON value is malformed: {reason.what}"
        raise self._walk.corrupt(f"column @{column + 1}: {what}", table.name)


def _as_json(lines: bytes) -> bytes:
    """Return these lines; lines that are not UTF-8 get escapes for all bytes that are not ASCII."""
    try:
        lines.decode()
    except UnicodeDecodeError:
        if lines.count(b"\n") == 1:
            text = lines.decode("utf-8", "surrogateescape")
            return re.sub(r"[^\x00-\x7e]", lambda found: json.dumps(found[0])[1:-1], text).encode()
        return b"".join(_as_json(line + b"\n") for line in lines.split(b"\n")[:-1])
    return lines


def _names(is_json: bool) -> Iterator[str]:
    """Yield the names of events of each type: in JSON their own names, in text those of mysqlbinlog."""
    for kind in range(256):
        name = event_name(kind)
        yield name if is_json else _rows_name(name) if kind in _ROWS else name.capitalize()


def _rows_name(name: str) -> str:
    """As the tools call it: Write_rows, Write_compressed_rows, Update_rows_partial, Write_rows_old, …"""
    verb, *rest = name.removesuffix("_V1").split("_")
    if verb == "PRE":
        return f"{rest[1].capitalize()}_rows_old"
    if verb == "PARTIAL":
        return "Update_rows_partial"
    return f"{verb.capitalize()}_compressed_rows" if "COMPRESSED" in rest else f"{verb.capitalize()}_rows"
