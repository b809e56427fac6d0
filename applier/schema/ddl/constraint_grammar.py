"""Reads CHECK constraints and foreign keys in CREATE TABLE and ALTER TABLE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from applier.schema.checks import CheckWords
from applier.schema.foreign_keys import _SHOWN, _WORDS, CASCADE, RESTRICT, SET_NULL, ForeignKeyWords

if TYPE_CHECKING:
    from applier.schema.ddl.cursor import Cursor

def parse_check(cursor: Cursor, name: str | None = None, *, if_not_exists: bool = False) -> CheckWords:
    """CHECK (expression) [[NOT] ENFORCED], after CONSTRAINT and its name."""
    cursor.expect("CHECK")
    expression = cursor.expression()
    hidden = cursor.accept("NOT", "ENFORCED")  # NOT NULL may follow a column's
    cursor.accept("ENFORCED")
    return CheckWords(name, expression, not hidden, if_not_exists)


def parse_foreign_key(cursor: Cursor, constraint: str | None) -> ForeignKeyWords:
    """What stands after FOREIGN KEY, up to the comma or parenthesis after it."""
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
    """What stands after REFERENCES."""
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
