"""Events as text, as `mysqlbinlog -v` prints them: comments about each event, statements, row changes as pseudo-SQL.

It is for people and for tools that read row changes out of it; it is not meant to be piped into a server.
"""

import time
from collections.abc import Callable, Iterator

from applier.binlog import events
from applier.binlog.events import Event
from applier.binlog.format import EventType, FormatDescription
from applier.binlog.gtid import GtidSet
from applier.binlog.mapping import MappedFile
from applier.binlog.table_map import parse_table_map
from applier.errors import ArchiveError
from applier.show.rows import Image, RowChange, ShownEvent

_TERMINATOR = "/*!*/;"
_ROWS_FLAGS = {
    1: "STMT_END_F", 2: "NO_FOREIGN_KEY_CHECKS_F", 4: "RELAXED_UNIQUE_CHECKS_F", 8: "COMPLETE_ROWS_F",
    16: "USE_SQL_FOREIGN_KEY_F",
}  # fmt: skip
_MARIADB_GTID_FLAGS = {1: "standalone", 4: "trans", 16: "waited", 32: "ddl", 64: "xa prepare", 128: "xa complete"}
_INTVARS = {1: "LAST_INSERT_ID", 2: "INSERT_ID"}

Details = tuple[str, list[str]]
"""What an event says: the end of its header line, and the lines below it."""


def event_lines(shown: ShownEvent, mapped: MappedFile, description: FormatDescription) -> Iterator[str]:
    """The lines of one event of the file, without line feeds; a line of SQL may have some inside. Bytes that are not
    UTF-8 are surrogates. Raises ArchiveError (1610) where the body is malformed."""
    event = shown.event
    try:
        if event.type == EventType.FORMAT_DESCRIPTION:
            title, lines = _start(event, description)
        else:
            title, lines = _DETAILS.get(event.type, _only_name)(event)
    except ArchiveError as reason:
        raise reason.at(position=event.position) from None
    yield f"# at {event.position}"
    yield f"#{_header(event, mapped, description.checksum)} \t{title}"
    yield from lines
    if shown.note:
        yield f"# {shown.note}"
    for change in shown.changes:
        yield from _change_lines(change)


def _header(event: Event, mapped: MappedFile, checksum: bool) -> str:
    text = f"{_moment(event.timestamp)} server id {event.server_id}  end_log_pos {event.end_log_pos}"
    if event.group_id is not None:
        text += f" group id {event.group_id}"
    if checksum:
        end = event.position + event.size
        text += f" CRC32 0x{int.from_bytes(mapped.array[end - 4 : end].tobytes(), 'little'):08x}"
    return text


def _moment(timestamp: int) -> str:
    """In local time; the hour has no leading zero."""
    moment = time.localtime(timestamp)
    return f"{time.strftime('%y%m%d', moment)} {moment.tm_hour:2}{time.strftime(':%M:%S', moment)}"


# ---- row changes ----------------------------------------------------------------------------------------------------

_VERBS = {"insert": "INSERT INTO", "update": "UPDATE", "delete": "DELETE FROM"}


def _change_lines(change: RowChange) -> Iterator[str]:
    table = change.table_map
    yield f"### {_VERBS[change.operation]} {_name(table.database)}.{_name(table.table)}"
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


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


# ---- what each type of event says -----------------------------------------------------------------------------------


def _text(data: bytes | memoryview) -> str:
    return bytes(data).decode("utf-8", "surrogateescape")


def _only_name(event: Event) -> Details:
    return event.name.capitalize(), []


def _start(event: Event, description: FormatDescription) -> Details:
    created = _moment(description.created or event.timestamp)
    started = " at startup" if description.created else ""
    return f"Start: binlog v 4, server v {description.server_version} created {created}{started}", []


def _query(event: Event) -> Details:
    compressed = event.type == EventType.QUERY_COMPRESSED
    query = (events.parse_query_compressed if compressed else events.parse_query)(event.body)
    title = f"\tthread_id={query.thread_id}\texec_time={query.execution_time}\terror_code={query.error_code}"
    lines = [f"use {_name(query.database)}{_TERMINATOR}"] if query.database else []
    lines += [f"SET TIMESTAMP={event.timestamp}{_TERMINATOR}", _text(query.sql), _TERMINATOR]
    return event.name.capitalize() + title, lines


def _xid(event: Event) -> Details:
    return f"Xid = {events.parse_xid(event.body)}", [f"COMMIT{_TERMINATOR}"]


def _gtid(event: Event) -> Details:
    gtid = events.parse_gtid(event.type, event.body, event.server_id)
    order = "" if gtid.last_committed is None else f"\tlast_committed={gtid.last_committed}"
    order += "" if gtid.sequence_number is None else f"\tsequence_number={gtid.sequence_number}"
    line = f"SET @@SESSION.GTID_NEXT= '{gtid.text or 'ANONYMOUS'}'{_TERMINATOR}"
    return ("GTID" if gtid.text else "Anonymous_GTID") + order, [line]


def _mariadb_gtid(event: Event) -> Details:
    gtid = events.parse_gtid(event.type, event.body, event.server_id)
    words = [word for bit, word in _MARIADB_GTID_FLAGS.items() if gtid.flags & bit and bit != 1]
    words += [] if gtid.commit_id is None else [f"cid={gtid.commit_id}"]
    lines = [] if gtid.flags & 1 else ["START TRANSACTION", _TERMINATOR]
    return " ".join([f"GTID {gtid.text}", *words]), lines


def _previous_gtids(event: Event) -> Details:
    gtids = str(GtidSet.from_previous_gtids_event(bytes(event.body)))
    return "Previous-GTIDs", [f"# {part}" for part in (gtids or "[empty]").split(",")]


def _gtid_list(event: Event) -> Details:
    return f"Gtid list [{GtidSet.from_gtid_list_event(bytes(event.body))}]", []


def _rotate(event: Event) -> Details:
    rotate = events.parse_rotate(event.body)
    return f"Rotate to {rotate.next_file}  pos: {rotate.position}", []


def _checkpoint(event: Event) -> Details:
    return f"Binlog checkpoint {_text(event.body[4:])}", []


def _table_map(event: Event) -> Details:
    table = parse_table_map(bytes(event.body[6:]))
    number = int.from_bytes(event.body[:6], "little")
    return f"Table_map: {_name(table.database)}.{_name(table.table)} mapped to number {number}", []


def _rows(event: Event) -> Details:
    header = events.parse_rows_header(event.type, event.body)
    flags = "".join(f" {word}" for bit, word in _ROWS_FLAGS.items() if header.flags & bit)
    return f"{event.name.capitalize()}: table id {header.table_id}" + (f" flags:{flags}" if flags else ""), []


def _statement(event: Event) -> Details:
    """ROWS_QUERY and ANNOTATE_ROWS: the statement behind the row events that follow (EV-ANN)."""
    mariadb = event.type == EventType.ANNOTATE_ROWS
    text = _text((events.parse_annotate_rows if mariadb else events.parse_rows_query)(event.body))
    return ("Annotate_rows:" if mariadb else "Rows_query"), [f"#Q> {line}" for line in text.split("\n")]


def _intvar(event: Event) -> Details:
    name = _INTVARS.get(event.body[0], f"VARIABLE_{event.body[0]}") if event.body else "VARIABLE"
    return "Intvar", [f"SET {name}={int.from_bytes(event.body[1:9], 'little')}{_TERMINATOR}"]


def _rand(event: Event) -> Details:
    seeds = int.from_bytes(event.body[:8], "little"), int.from_bytes(event.body[8:16], "little")
    return "Rand", [f"SET @@RAND_SEED1={seeds[0]}, @@RAND_SEED2={seeds[1]}{_TERMINATOR}"]


_DETAILS: dict[int, Callable[[Event], Details]] = {
    EventType.QUERY: _query,
    EventType.QUERY_COMPRESSED: _query,
    EventType.XID: _xid,
    **dict.fromkeys((EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED), _gtid),
    EventType.MARIADB_GTID: _mariadb_gtid,
    EventType.PREVIOUS_GTIDS: _previous_gtids,
    EventType.GTID_LIST: _gtid_list,
    EventType.ROTATE: _rotate,
    EventType.BINLOG_CHECKPOINT: _checkpoint,
    EventType.TABLE_MAP: _table_map,
    **dict.fromkeys(
        (EventType.WRITE_ROWS_V1, EventType.UPDATE_ROWS_V1, EventType.DELETE_ROWS_V1, EventType.WRITE_ROWS,
         EventType.UPDATE_ROWS, EventType.DELETE_ROWS, EventType.PARTIAL_UPDATE_ROWS),
        _rows,
    ),
    EventType.ROWS_QUERY: _statement,
    EventType.ANNOTATE_ROWS: _statement,
    EventType.INTVAR: _intvar,
    EventType.RAND: _rand,
}  # fmt: skip
