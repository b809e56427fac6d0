"""Bytes in statements that are not text in their client's character set, which servers accept.

A parsed statement has a surrogate for each such byte. Rows do not depend on comments: there the byte becomes "?", as in
MariaDB. A default of a binary column keeps its bytes. In labels of ENUM and SET, MariaDB has "?"; MySQL cuts the label
off before the byte, except in columns of UTF-8 and of bytes, where it keeps it. Seen on MySQL 9.7 and MariaDB 10.11.
"""

import re
from decimal import Decimal

import pyarrow as pa

from applier.errors import SchemaError
from applier.mysql.character_sets.client_charsets import (
    NOT_ASCII,
    CodedText,
    filled_up,
    label_bytes,
    label_of_bytes,
    text_of_digits,
)
from applier.mysql.character_sets.exact_text import is_lossy, with_placeholders
from applier.mysql.character_sets.labels import with_question_marks
from applier.mysql.types import BINARY, ColumnType
from applier.schema.table_parts import Default

_UNDECODABLE = re.compile("[\udc80-\udcff]")
_TRUNCATED = re.compile(rb"(?:[\xc2-\xdf]|[\xe0-\xef].?)\Z", re.DOTALL)
_MAY_KEEP = frozenset({"utf8mb4", "utf8mb3", "utf8", "binary"})


def shown(text: str) -> str:
    """The text with a question mark for each of these bytes."""
    return _UNDECODABLE.sub("?", text)


def shown_members(members: tuple[str, ...], charset: str | None, flavour: str) -> tuple[str, ...]:
    """The labels of a column in `charset` as the server keeps them, if that is text."""
    if flavour == "mariadb":
        return tuple(with_question_marks(member) if isinstance(member, CodedText) else shown(member)
                     for member in members)
    if charset in _MAY_KEEP:
        return tuple(_without_end(label_of_bytes(member.encode("utf-8", "surrogateescape"), charset or "utf8mb4")
                                  if _UNDECODABLE.search(member) else member) for member in members)
    return tuple(member if isinstance(member, CodedText) else _UNDECODABLE.split(member)[0].rstrip(" ")
                 for member in members)


def _without_end(label: str) -> str:
    """A label as MySQL converts it from utf8mb3: it ends before a character that is not whole."""
    if not isinstance(label, CodedText) or label.charset != "utf8mb3" or not (found := _TRUNCATED.search(label.data)):
        return label
    return CodedText(label.data, label.charset, str(label_of_bytes(label.data[:found.start()], label.charset)))


def in_column(default: Default | None, column_type: ColumnType) -> Default | None:
    """A default as a column has it: a text's bytes if the column is binary and they are not its UTF-8; bytes as text in
    the column's character set."""
    if default is None or default.kind != "string":
        return default
    text = default.text
    if column_type.base in BINARY or column_type.base == "bit":
        shown_bytes = text.encode("utf-8", "surrogateescape")
        data = text.data if isinstance(text, CodedText) else shown_bytes
        if data != shown_bytes or _UNDECODABLE.search(text):
            return Default("bytes", data.hex())
    if isinstance(text, CodedText) and text.charset == "binary" and column_type.charset is not None:
        return _default_of_bytes(text.data, column_type.charset)
    if isinstance(text, CodedText) and text.charset == column_type.charset and is_lossy(text.charset):
        return _default_of_bytes(text.data, text.charset)
    return Default("string", str(text))


def _default_of_bytes(data: bytes, charset: str) -> Default:
    """A text column's default of these bytes: the text, or bytes if some are no character's own."""
    text = text_of_digits(data, charset)
    if with_placeholders(pa.array([text]), charset) is not None:
        return Default("bytes", data.hex())
    return Default("string", text)


def default_as_bytes(default: Default | None, column_type: ColumnType) -> Default | None:
    """The default of a CHAR or VARCHAR column of `column_type` once CONVERT TO CHARACTER SET binary makes it a binary
    one: the bytes that the text had."""
    if default is None or default.kind not in ("string", "number", "bytes"):
        return default
    charset, text = column_type.charset or "binary", default.text
    if default.kind == "bytes":
        return Default("bytes", filled_up(bytes.fromhex(text), charset).hex())
    if default.kind == "number":
        if "e" in text.lower():
            if charset in NOT_ASCII:
                raise SchemaError(f"the bytes of the default {text} in {charset}")
            return default
        text = format(Decimal(text), "f")
    return Default("bytes", label_bytes(text, charset).hex())
