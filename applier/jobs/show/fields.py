"""What an event holds as plain JSON values."""

from dataclasses import fields as fields_of
from typing import Any

from applier.binlog.events.contents import MappedTable
from applier.binlog.events.format import FormatDescription
from applier.binlog.events.gtid import GtidSet

_SQL = "sql"
_LENGTHS_ONLY = ("data",)
"""Blocks of files: how long they are."""


def fields(content: Any) -> dict[str, Any]:
    """The fields of a content by name: SQL is text, other bytes are hexadecimal, and what is not there is null."""
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
