"""`applier show`: what is in binlog files, event by event. Needs no schema."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

__all__ = ["selection"]

if TYPE_CHECKING:
    from applier.io.mapping import MappedFile
    from applier.io.printable import TerminalText
    from applier.jobs.show.rows import ShownEvent
    from applier.jobs.show.selection import ReadRange, Selection
    from applier.schema.table_filter import TableFilter

_FIRST = 4
"""Where a file's first event is."""


def show(files: list[str], format: str, out: TextIO | TerminalText, selection: Selection | None = None) -> list[str]:
    """Print the events of binlog files, in the order given, to a text stream: all of them, or a selection.

    format: "text" (as `mysqlbinlog -v`) or "json" (an object a line, see json_lines). Text columns are in their own
    character set, so what is written may not be UTF-8: it goes to the stream's buffer as it is, byte for byte what the
    servers' own programs print. A file's format description is shown with whatever is shown of the file. Raises
    ArchiveError where a file is damaged, after all that comes before that. Gives what a person should know: that
    nothing was selected, or no event of a table."""
    from applier.errors import ArchiveError
    from applier.io.mapping import map_file
    from applier.jobs.show.selection import Selection
    from applier.jobs.show.tables import NoticedTables

    selection = selection or Selection()
    wanted = selection.tables
    tables = None if wanted is None else NoticedTables(wanted.tables, wanted.ignored)
    selected = 0
    out.flush()
    names = [os.path.basename(uri.rstrip("/")) for uri in files]
    for uri, name in zip(files, names, strict=True):
        mapped = map_file(uri)
        ranges = selection.ranges(mapped, name, names)
        try:
            print_ = _print_text if format == "text" else _print_json
            try:
                selected += print_(mapped, ranges, tables, out.buffer.write)
            finally:
                mapped.check_whole()
        except ArchiveError as reason:
            raise reason.at(file=uri) from None
    out.buffer.flush()
    if not selected:
        return selection.notes_on_nothing()
    return [] if tables is None else tables.notes()


def _print_text(mapped: MappedFile, ranges: Iterable[ReadRange], tables: TableFilter | None,
                write: Callable[[bytes], object]) -> int:
    """How many ranges there are."""
    from applier.jobs.show.table_choice import TableChoice
    from applier.jobs.show.text_walk import TextWalk

    text, count = TextWalk(mapped, write), 0
    printer = text if tables is None else TableChoice(mapped, tables, text)
    for start, end, shown_from in ranges:
        if not count and start > _FIRST:
            text.print(_FIRST, _FIRST + 1, _FIRST)
        count += 1
        printer.print(start, end, shown_from)
    return count


def _print_json(mapped: MappedFile, ranges: Iterable[ReadRange], tables: TableFilter | None,
                write: Callable[[bytes], object]) -> int:
    """How many events there are."""
    from applier.jobs.show.json_lines import event_objects

    count = 0
    for shown in shown_events(mapped, ranges, tables):
        count += 1
        write("".join(f"{line}\n" for line in event_objects(shown)).encode("utf-8", "surrogateescape"))
    return count


def shown_events(mapped: MappedFile, ranges: Iterable[ReadRange], tables: TableFilter | None = None
                 ) -> Iterator[ShownEvent]:
    """The events in some ranges of a file (start, end, shown from) with their row changes, all or those about some
    tables, after the file's format description."""
    from applier.binlog.archive.reader import file_events
    from applier.binlog.events.events import read_format
    from applier.jobs.show.rows import RowReader, ShownEvent
    from applier.jobs.show.tables import AboutTables

    wanted = (lambda _: True) if tables is None else (lambda table: tables.wanted(table.database, table.table))
    rows, is_first = RowReader(mapped, read_format(mapped), wanted), True
    for start, end, shown_from in ranges:
        if is_first and start > _FIRST:
            yield ShownEvent(next(file_events(mapped)), [])
        is_first = False
        events = rows.shown(file_events(mapped, start, end))
        for shown in events if tables is None else AboutTables(tables).of(events):
            if shown.event.position >= shown_from:
                yield shown
