"""`applier show`: what is in binlog files, event by event. Needs no schema."""

from typing import TextIO


def show(files: list[str], format: str, out: TextIO) -> None:
    """Print the events of binlog files, in the order given, to a text stream.

    format: "text" (as `mysqlbinlog -v`) or "json" (an object a line, see json_lines). Text columns are in their own
    character set, so what is written may not be UTF-8: it goes to the stream's buffer as it is. Raises ArchiveError
    where a file is damaged, after all that comes before that."""
    from applier.binlog.events import read_format
    from applier.binlog.mapping import map_file
    from applier.errors import ArchiveError
    from applier.show.json_lines import event_objects
    from applier.show.rows import shown_events
    from applier.show.text import event_lines

    out.flush()
    for uri in files:
        mapped = map_file(uri)
        description = read_format(mapped)
        try:
            for shown in shown_events(mapped):
                lines = event_objects(shown) if format == "json" else event_lines(shown, mapped, description)
                text = "".join(f"{line}\n" for line in lines)
                out.buffer.write(text.encode("utf-8", "surrogateescape"))
        except ArchiveError as reason:
            raise reason.at(file=uri) from None
    out.buffer.flush()
