"""Bytes in statements that are no text in the character set of their client, which servers take.

A parsed statement has such a byte as a surrogate. No row depends on a comment: there it becomes "?", as MariaDB has it.
A default of binary columns keeps its bytes. In the labels of ENUM and SET MariaDB has "?"; MySQL's end before such a
byte, but in columns of UTF-8 and of bytes, where it may keep it, which no text of a snapshot can. Seen on MySQL 9.7 and
MariaDB 10.11.
"""

import re

from applier.mysql.types import BINARY, ColumnType
from applier.schema.definition import Default

_ODD = re.compile("[\udc80-\udcff]")
_MAY_KEEP = frozenset({"utf8mb4", "utf8mb3", "utf8", "binary"})


def shown(text: str) -> str:
    """The text with a question mark for each of these bytes."""
    return _ODD.sub("?", text)


def shown_members(members: tuple[str, ...], charset: str | None, flavour: str) -> tuple[str, ...]:
    """The labels of a column in `charset` as the server keeps them, if that is text."""
    if flavour == "mariadb":
        return tuple(map(shown, members))
    if charset in _MAY_KEEP:
        return members
    return tuple(_ODD.split(member)[0].rstrip(" ") for member in members)


def as_bytes(default: Default | None, column_type: ColumnType) -> Default | None:
    """A default as it is, or, of a binary column, by its bytes if they are no text."""
    if default is None or default.kind != "string" or column_type.base not in BINARY or not _ODD.search(default.text):
        return default
    return Default("bytes", default.text.encode("utf-8", "surrogateescape").hex())
