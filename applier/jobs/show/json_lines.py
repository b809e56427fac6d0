"""Events as JSON, one object per line.

    {"pos": 1234, "end": 1310, "type": "UPDATE_ROWS", "op": "update", "table": "db.t", "before": {"@1": "1"},
     "after": {"@1": "2"}}
    {"pos": 1310, "end": 1341, "type": "XID", "timestamp": 1795203941, "server_id": 7, "fields": {"number": 16}}

`pos` is the event's offset in its file, `end` the next one's, and every file's first object has `"pos": 4`. Events
within a TRANSACTION_PAYLOAD follow it with its offsets, and their own number in it as `within`. Each row change has a
separate line, with its columns' values as `mysqlbinlog -v` prints them (all are strings, and text has its SQL quotes,
so NULL is not 'NULL'; a JSON diff is SQL with line feeds); columns that are not in the image are omitted, and an image
that the operation does not have is null. Other events have their contents as `fields` (binlog/events/contents.py has
their meaning), and a `group_id` if headers have one. Bytes that are not UTF-8 come as the escapes \\udc80 to \\udcff
(Python's surrogateescape). Rows that cannot be shown have a `note`.
"""

import json
from dataclasses import fields as fields_of
from typing import Any

import orjson

from applier.binlog.archive.reader import FileEvent
from applier.binlog.events.contents import MappedTable
from applier.binlog.events.format import FormatDescription
from applier.binlog.events.gtid import GtidSet
from applier.binlog.events.query import Query
from applier.binlog.events.table_map import TableMap

_SQL = "sql"
_LENGTHS_ONLY = ("data",)
"""Blocks of files: how long they are."""


def event_line(event: FileEvent, number: int | None, note: str | None) -> str:
    """Return the line, without its line feed, of an event that has no row changes, or none that can be shown. `number`:
    its own within a compressed one. Raises ArchiveError (1610) where the event's body is malformed."""
    thing: dict[str, object] = {"pos": event.position, "end": event.end_position, "type": event.name}
    if number is not None:
        thing["within"] = number
    thing |= {"timestamp": event.timestamp, "server_id": event.server_id}
    if event.group_id is not None:
        thing["group_id"] = event.group_id
    if note:
        thing["note"] = note
    thing["fields"] = _fields(event.content)
    try:
        return orjson.dumps(thing).decode()
    except (orjson.JSONEncodeError, TypeError):  # surrogates: bytes that no UTF-8 file can hold
        return json.dumps(thing, separators=(",", ":"))


def statement_fields(query: Query) -> tuple[str, str]:
    """Return a statement's fields as in its line: those between its execution time and its SQL, and those behind that,
    up to the end of the line."""
    own = _fields(query)
    before = _members({name: own[name] for name in ("error_code", "database")})
    return f',{before},"sql":', f",{_members({'context': own['context']})}}}}}\n"


def table_fields(table: TableMap) -> str:
    """Return the fields of a table map as in its line, behind its id and up to the end of the line."""
    known = _fields(MappedTable(0, table))
    del known["table_id"]
    return f",{_members(known)}}}}}\n"


def _members(thing: dict[str, object]) -> str:
    """Return the members of an object, with surrogates for bytes that are not UTF-8."""
    return json.dumps(thing, ensure_ascii=False, separators=(",", ":"))[1:-1]


def _fields(content: Any) -> dict[str, Any]:
    """Return the fields of a content by name: SQL is text, other bytes are hexadecimal, and missing fields are null."""
    if content is None:
        return {}
    if isinstance(content, GtidSet):
        return {"gtids": str(content)}
    if isinstance(content, MappedTable):
        table = content.table
        return {"table_id": content.table_id, "table": table.name, "flags": table.flags, "columns": len(table.types)}
    known = {field.name: getattr(content, field.name) for field in fields_of(content)}
    if isinstance(content, FormatDescription):
        del known["post_header_lengths"]
    return {name: _plain(name, value) for name, value in known.items()}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, bytes):
        if name == _SQL:
            return value.decode("utf-8", "surrogateescape")
        return len(value) if name in _LENGTHS_ONLY else value.hex()
    if isinstance(value, dict):
        return {key: _plain(key, part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(name, part) for part in value]
    return value
