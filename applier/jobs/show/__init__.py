"""`applier show`: the contents of binlog files, event by event. Needs no schema."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from operator import add
from typing import TYPE_CHECKING, TextIO

__all__ = ["selection", "tables"]

if TYPE_CHECKING:
    from applier.io.mapping import MappedFile
    from applier.io.printable import TerminalText
    from applier.jobs.show.choice import TableChoice
    from applier.jobs.show.printing import EventPrinter, Form
    from applier.jobs.show.selection import ReadRange, Selection
    from applier.jobs.show.tables import NoticedTables
    from applier.schema.table_filter import TableFilter

_FIRST = 4
"""Where a file's first event is."""


def show(files: list[str], format: Form, out: TextIO | TerminalText, selection: Selection | None = None) -> list[str]:
    """Print the events of binlog files, in the order given, to a text stream: all of them, or a selection.

    format: "text" (as `mysqlbinlog -v`) or "json" (an object a line, see json_lines). Text columns are in their own
    character set, so what is written may not be UTF-8: it goes to the stream's buffer as it is, byte for byte what the
    servers' own programs print. A file's format description is shown with whatever is shown of the file. Raises
    ArchiveError where a file is damaged, after all that comes before that. Gives what a person should know: that
    nothing was selected, or no event of a table."""
    from applier.binlog.locating.group_choice import notes_on_threads
    from applier.errors import ArchiveError
    from applier.io.mapping import map_file
    from applier.io.packing import log_name
    from applier.jobs.show.selection import Selection

    selection = selection or Selection()
    tables = None if selection.tables is None else _noticed(selection.tables)
    selected, threads = 0, [0, 0]
    out.flush()
    names = [log_name(uri) for uri in files]
    for uri, name in zip(files, names, strict=True):
        mapped = map_file(uri)
        ranges = selection.ranges(mapped, name, names)
        try:
            try:
                selected += _print(mapped, format, ranges, tables, out.buffer.write)
            finally:
                mapped.check_whole()
        except ArchiveError as reason:
            raise reason.at(file=uri) from None
        if selection.threads:
            threads = [*map(add, threads, selection.thread_counts(mapped, name, names))]
    out.buffer.flush()
    notes = notes_on_threads(selection.threads, *threads) if selection.threads else []
    if not selected:
        return notes + selection.notes_on_nothing()
    return notes if tables is None else notes + tables.notes()


def binlogs(paths: list[str]) -> list[str]:
    """The files that are shown: those named, and for directories, globs and index files all that these stand for.
    Raises ArchiveError where there is none."""
    found: list[str] = []
    for path in paths:
        if os.path.isfile(path) and not path.endswith(".index"):
            found.append(path)  # whatever its name is
        else:
            from applier.binlog.archive.archive import files_at

            found += files_at(path)
    return found


def _noticed(wanted: TableFilter) -> NoticedTables:
    from applier.jobs.show.tables import NoticedTables  # it needs the grammar of statements, which takes 0.1 s

    return NoticedTables(wanted.tables, wanted.ignored)


def _print(mapped: MappedFile, format: Form, ranges: Iterable[ReadRange], tables: TableFilter | None,
           write: Callable[[bytes], object]) -> int:
    """Return how many ranges there are: their events are printed, all or those about some tables, after the file's
    format description."""
    from applier.jobs.show.printing import EventPrinter

    printer, count = EventPrinter(mapped, format, write), 0
    chosen = printer if tables is None else _choice(mapped, tables, printer)
    for start, end, shown_from in ranges:
        if not count and start > _FIRST:
            printer.print(_FIRST, _FIRST + 1, _FIRST)
        count += 1
        chosen.print(start, end, shown_from)
    return count


def _choice(mapped: MappedFile, tables: TableFilter, printer: EventPrinter) -> TableChoice:
    from applier.jobs.show.choice import TableChoice

    return TableChoice(mapped, tables, printer)
