"""`applier show`: what is in binlog files, event by event. Needs no schema."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from applier.binlog.mapping import MappedFile
    from applier.show.rows import ShownEvent
    from applier.show.selection import Selection


def show(files: list[str], format: str, out: TextIO, selection: Selection | None = None) -> None:
    """Print the events of binlog files, in the order given, to a text stream: all of them, or a selection.

    format: "text" (as `mysqlbinlog -v`) or "json" (an object a line, see json_lines). Text columns are in their own
    character set, so what is written may not be UTF-8: it goes to the stream's buffer as it is. A file's format
    description is shown with whatever is shown of the file. Raises ArchiveError where a file is damaged, after all that
    comes before that."""
    from applier.binlog.mapping import map_file
    from applier.errors import ArchiveError
    from applier.show.json_lines import event_objects
    from applier.show.selection import Selection
    from applier.show.text import TextPrinter

    selection = selection or Selection()
    out.flush()
    names = [os.path.basename(uri.rstrip("/")) for uri in files]
    for uri, name in zip(files, names, strict=True):
        lines_of = event_objects if format == "json" else TextPrinter().lines
        try:
            for shown in _selected(map_file(uri), name, names, selection):
                text = "".join(f"{line}\n" for line in lines_of(shown))
                out.buffer.write(text.encode("utf-8", "surrogateescape"))
        except ArchiveError as reason:
            raise reason.at(file=uri) from None
    out.buffer.flush()


def _selected(mapped: MappedFile, name: str, names: list[str], selection: Selection) -> Iterator[ShownEvent]:
    """The events of one of the files that are selected."""
    from applier.binlog.events import read_format
    from applier.binlog.reader import file_events
    from applier.show.rows import RowReader, ShownEvent
    from applier.show.tables import AboutTables

    description, tables = read_format(mapped), selection.tables
    wanted = (lambda _: True) if tables is None else (lambda table: tables.wanted(table.database, table.table))
    rows, is_first = RowReader(mapped, description, wanted), True
    for start, end, shown_from in selection.stretches(mapped, name, names):
        if is_first and start > 4:
            yield ShownEvent(next(file_events(mapped)), [])
        is_first = False
        events = rows.shown(file_events(mapped, start, end))
        for shown in events if tables is None else AboutTables(tables).of(events):
            if shown.event.position >= shown_from:
                yield shown
