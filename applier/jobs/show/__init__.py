"""`applier show`: the contents of binlog files, event by event. Needs no schema."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from operator import add
from typing import TYPE_CHECKING, TextIO

__all__ = ["later_text", "selection", "style", "tables"]

if TYPE_CHECKING:
    from applier.io.mapping import MappedFile
    from applier.io.printable import TerminalText
    from applier.jobs.show.choice import TableChoice
    from applier.jobs.show.printing import EventPrinter, Form
    from applier.jobs.show.selection import ReadRange, Selection
    from applier.jobs.show.style import Style
    from applier.jobs.show.tables import NoticedTables
    from applier.schema.table_filter import TableFilter

_FIRST = 4
"""Where a file's first event is."""


def show(files: list[str], format: Form, out: TextIO | TerminalText, selection: Selection | None = None,
         style: Style | None = None) -> list[str]:
    """Print the events of binlog files, in the order given, to a text stream: all of them, or a selection.

    format: "text" (as the servers' own programs print them, in a style) or "json" (an object a line, see json_lines).
    Text columns are in their own character set, so the output may not be UTF-8: it goes to the stream's buffer, byte
    for byte as the servers' own programs print it. A file's format description is shown with whatever is shown of the
    file. Raises ArchiveError where a file is damaged, after all that comes before that. Returns notes for the user:
    that nothing was selected, or no event of a table."""
    from applier.binlog.events.events import read_format
    from applier.binlog.locating.group_choice import notes_on_threads
    from applier.errors import ArchiveError
    from applier.io.mapping import map_file
    from applier.io.packing import log_name
    from applier.jobs.show.selection import Selection, event_after
    from applier.jobs.show.style import Style

    selection, style = selection or Selection(), style or Style()
    tables = None if selection.tables is None else _noticed(selection.tables)
    selected, threads = 0, [0, 0]
    out.flush()
    names = [log_name(uri) for uri in files]
    flavour, passed_over = "", selection.passed_over
    for uri, name in zip(files, names, strict=True):
        mapped = map_file(uri)
        first, passed_over = event_after(mapped, passed_over) if passed_over else (0, 0)
        try:
            try:
                ranges = [(start, end, max(shown_from, first)) for start, end, shown_from in
                          selection.ranges(mapped, name, names) if end > first]
                if format == "text" and ranges:
                    begins, flavour = not flavour, read_format(mapped).flavour
                    _write_lines(out, style.prologue(flavour) if begins else style.between(flavour))
                selected += _print(mapped, (format, style), ranges, tables, out.buffer.write)
            finally:
                mapped.check_whole()
        except ArchiveError as reason:
            raise reason.at(file=uri) from None
        if selection.threads:
            threads = [*map(add, threads, selection.thread_counts(mapped, name, names))]
    if flavour:
        _write_lines(out, style.epilogue(flavour))
    out.buffer.flush()
    notes = notes_on_threads(selection.threads, *threads) if selection.threads else []
    if not selected:
        return notes + selection.notes_on_nothing()
    return notes if tables is None else notes + tables.notes()


def binlogs(paths: list[str]) -> list[str]:
    """Return the files that are shown: those named, and for directories, globs and index files all that these stand
    for. Raises ArchiveError where there is none."""
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


def _write_lines(out: TextIO | TerminalText, lines: Iterable[str]) -> None:
    out.buffer.write("".join(f"{line}\n" for line in lines).encode())


def _print(mapped: MappedFile, form: tuple[Form, Style], ranges: Iterable[ReadRange], tables: TableFilter | None,
           write: Callable[[bytes], object]) -> int:
    """Return how many ranges there are: their events are printed, all or those about some tables, after the file's
    format description."""
    from applier.jobs.show.printing import EventPrinter

    printer, count = EventPrinter(mapped, form[0], write, form[1]), 0
    chosen = printer if tables is None else _choice(mapped, tables, printer)
    for start, end, shown_from in ranges:
        if not count and max(start, shown_from) > _FIRST:
            printer.print(_FIRST, _FIRST + 1, _FIRST)
        count += 1
        chosen.print(start, end, shown_from)
    printer.end()
    return count


def _choice(mapped: MappedFile, tables: TableFilter, printer: EventPrinter) -> TableChoice:
    from applier.jobs.show.choice import TableChoice

    return TableChoice(mapped, tables, printer)
