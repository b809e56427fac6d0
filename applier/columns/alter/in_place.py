"""Whether MariaDB alters a table in place or copies it: that decides what NULLs become in a column that is made NOT
NULL. Judged by MariaDB 10.11."""

from __future__ import annotations

import re

from applier.mysql.types import INTEGERS, MEMBERS
from applier.mysql.value_sizes import member_bytes, most_bytes
from applier.schema.definition import Column
from applier.schema.history.conversion import RowConversion
from applier.sql.evaluator import differs_by_row
from applier.sql.tokens import tokenize

_COPIES = re.compile(r"\bALGORITHM\s*=?\s*COPY\b|\bORDER\s+BY\b|\bCHECK\s*\(", re.IGNORECASE)
_DEPENDS = re.compile(r"\bFOREIGN\s+KEY\b|\bREFERENCES\b", re.IGNORECASE)
_NO_KEY = re.compile(r"\bDROP\s+FOREIGN\s+KEY\b", re.IGNORECASE)
_SHORT = 255
"""Bytes of the longest VARCHAR with a one-byte length."""


def is_in_place(conversion: RowConversion) -> bool | None:
    """True if MariaDB executes the statement in place, with InnoDB; None if that depends on more than the log has
    (foreign keys are added in place without foreign_key_checks)."""
    old, new, words = conversion.old, conversion.new, _words(conversion)
    if any((table.engine or "InnoDB").casefold() != "innodb" for table in (old, new)) or _COPIES.search(words):
        return False
    loses_key = old.primary_key is not None and new.primary_key is None
    if loses_key or (old.versioning is None) != (new.versioning is None):
        return False
    if any(column.generated == "virtual" for column in _dropped(conversion)):
        return False
    for column, source in zip(new.columns, conversion.sources, strict=True):
        if column.generated == "stored" or (source is None and (column.generated or _computed_by_row(column))):
            return False
        if source is not None and not _keeps_its_form(old.columns[source], column):
            return False
    return None if _DEPENDS.search(_NO_KEY.sub("", words)) else True


def _words(conversion: RowConversion) -> str:
    """The statement without comments, strings and quoted names."""
    tokens = tokenize(conversion.sql, sql_mode=conversion.sql_mode, flavour=conversion.new.flavour)
    return " ".join(token.text for token in tokens if token.kind in ("word", "sign"))


def _dropped(conversion: RowConversion) -> list[Column]:
    return [column for number, column in enumerate(conversion.old.columns) if number not in conversion.sources]


def _computed_by_row(column: Column) -> bool:
    """True if a default may differ from row to row."""
    return column.default is not None and column.default.kind == "expression" and differs_by_row(column.default.text)


def _keeps_its_form(before: Column, after: Column) -> bool:
    """True if both columns' values have the same bytes; NULLs of a TIMESTAMP have to become the time."""
    old, new = before.type, after.type
    if new.base == "timestamp" and before.nullable and not after.nullable:
        return False
    if old.base != new.base:
        return False
    if old.base in INTEGERS:
        return old.unsigned == new.unsigned
    if old.base in MEMBERS:
        return new.members[:len(old.members)] == old.members and member_bytes(old) == member_bytes(new) \
            and old.charset == new.charset
    if old.base in ("varchar", "varbinary"):
        lengths = most_bytes(old), most_bytes(new)
        charsets = old.charset == new.charset or (old.charset, new.charset) == ("utf8mb3", "utf8mb4")
        return charsets and (new.length or 0) >= (old.length or 0) and (lengths[0] > _SHORT) == (lengths[1] > _SHORT)
    return (old.length, old.precision, old.scale, old.fsp, old.charset, old.unsigned) == (
        new.length, new.precision, new.scale, new.fsp, new.charset, new.unsigned)

