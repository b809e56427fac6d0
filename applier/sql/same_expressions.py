"""Compares SQL expressions by meaning: as people write them, and as servers show them.

A server shows an expression after parsing it: with more parentheses, names in backquotes, synonyms of functions,
strings with the character set of the session, NOT carried into comparisons, and values that stand for conditions
compared with 0. Seen on MySQL 9.7, MariaDB 10.11 and 11.8. Expressions that differ otherwise count as different.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache

from applier.errors import NotComputable, SchemaError
from applier.mysql.names import folded
from applier.sql.grammar import parse_expression
from applier.sql.nodes import Call, Literal, Name, Node
from applier.sql.tokens import tokenize

_OPPOSITES = {"=": "<>", "<>": "=", ">": "<=", "<=": ">", "<": ">=", ">=": "<"}
_TURNED = {">": "<", ">=": "<="}
_SYMMETRIC = frozenset({"=", "<>", "<=>"})
_CHAINED = {"AND": "OR", "OR": "AND"}
_SYNONYMS = {"REGEXP": "REGEXP_LIKE", "RLIKE": "REGEXP_LIKE"}
_CONDITIONS = frozenset({*_OPPOSITES, *_CHAINED, "<=>", "XOR", "NOT", "ISNULL", "IN", "LIKE", "BETWEEN", "REGEXP_LIKE"})
_ZERO = Literal("number", "0")
_RETURNING = re.compile(r"\s+returning char\(512\)(?=\))", re.IGNORECASE)
"""The default return type of MySQL's JSON_VALUE."""
_CASTS = frozenset({"DATE", "TIME"})
"""Functions that MySQL shows as CAST."""
_CAST_TYPES = ((re.compile(r"CHARACTER SET"), "CHARSET"), (re.compile(r" ?CHARSET UTF8MB4$"), ""),
               (re.compile(r"(SIGNED) INTEGER$"), r"\1"), (re.compile(r"\s*([(,])\s*|\s+(\))"), r"\1\2"),
               (re.compile(r"^DECIMAL$"), "DECIMAL(10,0)"), (re.compile(r"^(DECIMAL\(\d+)\)$"), r"\1,0)"),
               (re.compile(r"^BINARY(\(\d+\))?$"), r"CHAR\1 CHARSET BINARY"), (re.compile(r"^CHARACTER\b"), "CHAR"))
"""Spellings of the types of CAST; utf8mb4 is the character set of a session that names none."""


def same_expressions(one: str, other: str) -> bool:
    """True if the two expressions have the same meaning, as far as their forms tell."""
    return one == other or normal_form(one) == normal_form(other)


@lru_cache(1024)
def normal_form(sql: str) -> object:
    """A value that expressions of the same meaning share: a tree, or, of an unknown form, its tokens."""
    with suppress(NotComputable, RecursionError):
        return _normal(parse_expression(_RETURNING.sub("", sql)))
    try:
        tokens = tokenize(sql)
    except SchemaError:
        return sql
    return tuple((token.kind if token.kind not in ("word", "name") else "", folded(token.text)
                  if token.kind in ("word", "name") else token.text)
                 for token in tokens if not (token.kind == "word" and token.text.startswith("_")))


def literal_of(sql: str) -> Literal | None:
    """The literal that an expression is, a number with its sign; None for any other expression."""
    with suppress(NotComputable, RecursionError):
        node = parse_expression(sql)
        if isinstance(node, Call) and node.name == "NEG":
            [number] = node.arguments
            is_number = isinstance(number, Literal) and number.kind == "number"
            return Literal("number", f"-{number.text}") if isinstance(number, Literal) and is_number else None
        return node if isinstance(node, Literal) else None
    return None


def _normal(node: Node) -> Node:
    if isinstance(node, Name):
        return Name(folded(node.name))
    if isinstance(node, Literal):
        return _literal(node)
    name = _SYNONYMS.get(node.name, node.name)
    arguments = tuple(map(_normal, node.arguments))
    if name == "NOT":
        return _negated(_condition(arguments[0]))
    if name in _CHAINED or name == "XOR":
        return _chain(name, tuple(map(_condition, arguments)))
    if name in ("IF", "CASE"):
        last = len(arguments) - 1
        arguments = tuple(_condition(part) if (number == 0 if name == "IF" else number % 2 == 0 and number < last)
                          else part for number, part in enumerate(arguments))
    elif name == "ROUND" and len(arguments) == 1:
        arguments = (*arguments, _ZERO)
    elif name == "JSON_LENGTH" and len(arguments) == 2:
        arguments = (Call("JSON_EXTRACT", arguments),)
    elif name in _CASTS and len(arguments) == 1:
        return Call("CAST", arguments, name)
    elif name == "IN" and len(arguments) == 2:
        return _comparison("=", *arguments)
    elif name in _OPPOSITES or name == "<=>":
        return _comparison(name, *arguments)
    word = node.word
    if name == "CAST":
        for pattern, text in _CAST_TYPES:
            word = pattern.sub(text, word)
    return Call(name, arguments, word.upper())


def _literal(node: Literal) -> Literal:
    if node.kind == "bool":
        return Literal("number", node.text)
    if node.kind == "number" and "e" in node.text.lower():
        return Literal("number", repr(float(node.text)))
    return Literal(node.kind, node.text)


def _comparison(name: str, left: Node, right: Node) -> Call:
    if name in _TURNED or (name in _SYMMETRIC and repr(right) < repr(left)):
        left, right = right, left
    return Call(_TURNED.get(name, name), (left, right))


def _condition(node: Node) -> Node:
    """The node where only its truth counts: without a comparison of a value with 0."""
    if isinstance(node, Call) and node.name == "<>" and _ZERO in node.arguments:
        return next((part for part in node.arguments if part != _ZERO), _ZERO)
    return node


def _negated(node: Node) -> Node:
    """NOT of a condition."""
    if not isinstance(node, Call) or node.name not in _CONDITIONS:
        return _comparison("=", _ZERO, node)
    if node.name in _OPPOSITES:
        return _comparison(_OPPOSITES[node.name], *node.arguments)
    if node.name in _CHAINED:
        return _chain(_CHAINED[node.name], tuple(map(_negated, node.arguments)))
    return node.arguments[0] if node.name == "NOT" else Call("NOT", (node,))


def _chain(name: str, arguments: tuple[Node, ...]) -> Call:
    """A chain of one operator as one call."""
    parts: list[Node] = []
    for argument in arguments:
        parts += argument.arguments if isinstance(argument, Call) and argument.name == name else (argument,)
    return Call(name, tuple(parts))
