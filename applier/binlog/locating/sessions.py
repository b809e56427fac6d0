"""Attributes of single event groups in the log, read in Python: the thread and user that ran them, and the
statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from applier.binlog.archive.reader import FileEvent, file_events
from applier.binlog.events.contents import Statement
from applier.binlog.events.format import EventType
from applier.binlog.events.query import Query
from applier.io.mapping import map_file

_MOST_EVENTS = 16
"""The most events of a group to read: its statement comes before its first rows event."""
_QUERIES = EventType.QUERY, EventType.QUERY_COMPRESSED, EventType.EXECUTE_LOAD_QUERY
_STATEMENTS = EventType.ROWS_QUERY, EventType.ANNOTATE_ROWS


@dataclass(frozen=True)
class Session:
    """The session that ran a group: the originating server, and the thread there, None if the log does not have it; the
    statement that made its first rows, if the log has it."""

    server_id: int
    thread_id: int | None = None
    statement: str | None = None


def session_of(uri: str, start: int, end: int) -> Session:
    """Return the session that ran the group in [start, end) of a file. Raises ArchiveError for a malformed event."""
    found = Session(0)
    for event in _first_events(uri, start, end):
        thread, statement = found.thread_id, found.statement
        if event.type in _QUERIES and thread is None and isinstance(event.content, Query):
            thread = event.content.thread_id
        elif event.type in _STATEMENTS and statement is None and isinstance(event.content, Statement):
            statement = event.content.text
        found = Session(found.server_id or event.server_id, thread, statement)
        if event.type == EventType.TABLE_MAP:
            break
    return found


def _first_events(uri: str, start: int, end: int) -> Iterator[FileEvent]:
    """Yield the events of a group; for a compressed event, the events within it."""
    n = 0
    for event in file_events(map_file(uri, whole=False), start, end):
        for one in event.events() if event.is_compressed else (event,):
            yield one
            n += 1
            if n == _MOST_EVENTS:
                return
