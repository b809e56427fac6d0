"""Events as text, as `mysqlbinlog -v` prints them: comments about each event, statements, row changes as pseudo-SQL.

It is for people and for tools that read row changes out of it; it is not meant to be piped into a server.
"""

from collections.abc import Iterator

from applier.binlog.archive.reader import FileEvent
from applier.jobs.show.context import Context, quoted
from applier.jobs.show.details import details
from applier.jobs.show.event_time import event_time
from applier.jobs.show.rows import Image, RowChange, ShownEvent

_VERBS = {"insert": "INSERT INTO", "update": "UPDATE", "delete": "DELETE FROM"}


class TextPrinter:
    """Prints the events of one file in their order; what it has printed says what need not be said again."""

    def __init__(self) -> None:
        self.context = Context()
        self._is_within = False

    def lines(self, shown: ShownEvent) -> Iterator[str]:
        """The lines of one event, without line feeds; a line of SQL may have some inside. Bytes that are not UTF-8 are
        surrogates. Raises ArchiveError (1610) where the body is malformed."""
        event = shown.event
        if event.within is None:
            yield from self.end()
        self._is_within = event.within is not None
        title, lines = details(event, self.context)
        yield f"# at {event.position}"
        yield f"#{_header(event)} \t{title}"
        yield from lines
        if shown.note:
            yield f"# {shown.note}"
        for change in shown.changes:
            yield from _change_lines(change)

    def end(self) -> Iterator[str]:
        """What ends the events within a compressed one, if such were the last."""
        if self._is_within:
            yield "# End of compressed events."
        self._is_within = False


def _header(event: FileEvent) -> str:
    text = f"{event_time(event.timestamp)} server id {event.server_id}  end_log_pos {event.end_position}"
    if event.group_id is not None:
        text += f" group id {event.group_id}"
    return text if event.checksum is None else f"{text} CRC32 0x{event.checksum:08x}"


def _change_lines(change: RowChange) -> Iterator[str]:
    table = change.table_map
    yield f"### {_VERBS[change.operation]} {quoted(table.database)}.{quoted(table.table)}"
    if change.before is not None:
        yield "### WHERE"
        yield from _image_lines(change.before)
    if change.after is not None:
        yield "### SET"
        yield from _image_lines(change.after)


def _image_lines(image: Image) -> Iterator[str]:
    for column, text in image.items():
        first, *more = text.split("\n")
        yield f"###   {column}={first}"
        yield from (f"###      {line}" for line in more)
