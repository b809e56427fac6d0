"""Reads CHECK constraints and foreign keys in CREATE TABLE and ALTER TABLE.

The values of table and key options that a definition keeps (applier.schema.table_options)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from applier.schema.checks import CheckWords
from applier.schema.ddl.cursor import Cursor
from applier.schema.foreign_keys import _SHOWN, _WORDS, CASCADE, RESTRICT, SET_NULL, ForeignKeyWords
from applier.schema.table_options import NAME, NUMBER, TEXT, WORD
from applier.schema.undecodable import shown

if TYPE_CHECKING:
    from applier.schema.ddl.cursor import Cursor

_UNSET = ("", "DEFAULT")
_WRITTEN = {NUMBER: re.compile(r"[0-9]{1,20}|DEFAULT", re.IGNORECASE), WORD: re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}"),
            NAME: re.compile(r".{1,64}", re.DOTALL)}
"""The form of a value, by its kind."""
_SET_BY_ZERO = ("PACK_KEYS", "STATS_PERSISTENT", "STATS_AUTO_RECALC", "TRANSACTIONAL",
                "PAGE_COMPRESSED")


def option_value(cursor: Cursor, name: str, kinds: Mapping[str, str]) -> str:
    """Return the value of a kept option at the cursor; "" where it is the default, or not written as servers show
    it."""
    if kinds[name] == TEXT:
        text = cursor.string() if cursor.token.kind in ("string", "bytes") else cursor.next().text
        return "" if name == "ENCRYPTION" and text.upper() == "N" else shown(text)
    if cursor.token.kind == "bytes":
        text = str(int(cursor.next().text or "0", 16))
    else:
        text = cursor.string() if cursor.token.kind == "string" else cursor.next().text
    if not _WRITTEN[kinds[name]].fullmatch(text):
        return ""
    text = text.lower() if name == "DISTANCE" else text if kinds[name] == NAME else text.upper()
    is_default = text in _UNSET or (text == "0" and name not in _SET_BY_ZERO)
    return "" if is_default else text


def parse_check(cursor: Cursor, name: str | None = None, *, if_not_exists: bool = False) -> CheckWords:
    """CHECK (expression) [[NOT] ENFORCED], after CONSTRAINT and its name."""
    cursor.expect("CHECK")
    expression = cursor.expression()
    hidden = cursor.accept("NOT", "ENFORCED")  # NOT NULL may follow a column's
    cursor.accept("ENFORCED")
    return CheckWords(name, expression, not hidden, if_not_exists)


def parse_foreign_key(cursor: Cursor, constraint: str | None) -> ForeignKeyWords:
    """Parse the words after FOREIGN KEY, up to the comma or parenthesis after it."""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = constraint
    if not cursor.ahead("("):
        index_name = cursor.name()
        name = constraint or (index_name if cursor.context.flavour == "mariadb" else None)
    columns = _parse_columns(cursor)
    cursor.expect("REFERENCES")
    return parse_references(cursor, name, columns, if_not_exists=if_not_exists)


def parse_references(cursor: Cursor, name: str | None, columns: tuple[str, ...], *,
                     if_not_exists: bool = False) -> ForeignKeyWords:
    """Parse the words after REFERENCES."""
    database, table = cursor.qualified_name()
    referenced = _parse_columns(cursor) if cursor.ahead("(") else ()
    if cursor.accept("MATCH"):
        cursor.next()
    actions, shown = {"DELETE": RESTRICT, "UPDATE": RESTRICT}, {"DELETE": "", "UPDATE": ""}
    while cursor.accept("ON"):
        event = cursor.next().keyword
        if cursor.accept("SET", "NULL"):
            actions[event] = SET_NULL
        elif cursor.accept("CASCADE"):
            actions[event] = CASCADE
        else:
            words = next((words for words in _WORDS if cursor.accept(*words.split())), "")
            if not words:
                cursor.expect(RESTRICT)
            actions[event], shown[event] = RESTRICT, words if words in _SHOWN[cursor.context.flavour] else ""
    table = cursor.context.named(table)
    return ForeignKeyWords(name, columns, database, table, referenced, actions["DELETE"], actions["UPDATE"],
                           if_not_exists, (shown["DELETE"], shown["UPDATE"]))


def _parse_columns(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect("(")
    names = [cursor.name()]
    while cursor.accept(","):
        names.append(cursor.name())
    cursor.expect(")")
    return tuple(names)
