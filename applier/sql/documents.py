"""Functions of JSON documents over whole columns, each distinct document once.

MySQL's documents are canonical: their text is what `jsondiff.normalize` makes. MariaDB's are text, of which it keeps
numbers and strings as they are written. Source: MySQL manual, "JSON Functions"; judged by both servers.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from json.encoder import encode_basestring as quoted

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.sql.casting.shown_numbers import shown
from applier.sql.casting.texts import by_distinct
from applier.sql.nodes import Call
from applier.sql.values import BOOL, JSON, TEXT, Arguments, Function, Value, as_text, numbers, one, together, truth
from jsondiff.normalize import normalize
from jsondiff.path import Member, Path, PathError
from jsondiff.path import parse as parse_path
from jsondiff.text import to_text
from jsondiff.values import DocumentError

_PART = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)\s*')
_MOST_DEPTH = 100
_MOST_CHARACTERS = 512
"""Length of JSON_VALUE's result in MySQL without RETURNING; NULL for more."""


@dataclass(frozen=True)
class _Node:
    """A part of a document: `kind` is "{", "[" or, for a scalar, "", with the text as it is written. An object's
    members have names, an array's cells have none."""

    kind: str
    text: str = ""
    names: tuple[str, ...] = ()
    parts: tuple[_Node, ...] = ()

    def written(self) -> str:
        """The text, with a space after each comma and colon."""
        if self.kind == "{":
            members = zip(self.names, self.parts, strict=True)
            return "{" + ", ".join(f"{name}: {part.written()}" for name, part in members) + "}"
        return "[" + ", ".join(part.written() for part in self.parts) + "]" if self.kind else self.text


def _documents(value: Value, session: Session) -> pa.Array:
    """The text of documents. Raises NotComputable if one is not text."""
    text = as_text(value, session)
    if session.flavour == "mysql":
        try:
            return text if value.type.base == "json" else normalize(text)
        except DocumentError as error:
            raise NotComputable(str(error)) from None
    if not value.is_text and value.type.base != "json":
        raise NotComputable("a document from a value that is not text")
    return text


def _parsed(text: str) -> _Node:
    """The parts of a document's text, which may be any that JSON allows."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        raise NotComputable(f"{text[:100]!r} as a document") from None
    words: list[str] = []
    at = 0
    while at < len(text):
        match = _PART.match(text, at)
        assert match is not None  # it is JSON
        words.append(match[1])
        at = match.end()
    words.reverse()
    return _node(words, 0)


def _node(words: list[str], depth: int) -> _Node:
    if depth > _MOST_DEPTH:
        raise NotComputable("a document with too many levels")
    word = words.pop()
    if word not in "{[":
        return _Node("", word)
    names, parts = [], []
    while words[-1] not in "}]":
        if word == "{":
            names.append(words.pop())
            words.pop()  # the colon
        parts.append(_node(words, depth + 1))
        if words[-1] == ",":
            words.pop()
    words.pop()
    return _Node(word, "", tuple(names), tuple(parts))


def _found(node: _Node | None, path: Path, flavour: str) -> _Node | None:
    """The part that a path leads to. A value that is not an array counts as an array of itself."""
    for leg in path.legs:
        if node is None:
            return None
        if isinstance(leg, Member):
            names = [json.loads(name) for name in node.names] if node.kind == "{" else []
            node = node.parts[names.index(leg.name)] if leg.name in names else None
        elif node.kind != "[":
            itself = leg.index == 0 and (not leg.from_end or flavour == "mysql")
            node = node if itself else None
        else:
            place = len(node.parts) - 1 - leg.index if leg.from_end else leg.index
            node = node.parts[place] if 0 <= place < len(node.parts) else None
    return node


def _paths(arguments: Arguments) -> list[Path]:
    try:
        return [parse_path(str(one(value))) for value in arguments]
    except PathError as error:
        raise NotComputable(f"a path: {error}") from None


def _extract(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    paths = _paths(arguments[1:])

    def extracted(text: str) -> str | None:
        document = _parsed(text)
        found = [part for path in paths if (part := _found(document, path, session.flavour)) is not None]
        if not found:
            return None
        return found[0].written() if len(paths) == 1 else "[" + ", ".join(part.written() for part in found) + "]"

    made = by_distinct(_documents(arguments[0], session), extracted)
    return Value(made, JSON, arguments[0].constant)


def _unquote(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    return Value(unquoted(as_text(value, session)), TEXT, value.constant)


def unquoted(documents: pa.Array) -> pa.Array:
    """The characters of documents that are strings; the text of others."""
    def characters(text: str) -> str:
        if len(text) < 2 or text[0] != '"' or text[-1] != '"':
            return text
        try:
            read: str = json.loads(text, strict=False)
        except ValueError:
            raise NotComputable(f"JSON_UNQUOTE of {text[:100]!r}") from None
        return read

    return by_distinct(documents, characters)


def _value(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if len(arguments) != 2:
        raise NotComputable("JSON_VALUE with options")
    [path] = _paths(arguments[1:])

    def extracted(text: str) -> str | None:
        part = _found(_parsed(text), path, session.flavour)
        if part is None or part.text == "null":
            return None
        if part.kind and session.flavour == "mariadb":
            raise NotComputable("JSON_VALUE of a value that is not a scalar")
        if session.flavour == "mariadb":
            return {"true": "1", "false": "0"}.get(part.text, part.text)
        return part.written()

    made = unquoted(by_distinct(_documents(arguments[0], session), extracted))
    if session.flavour == "mysql":
        made = pc.if_else(pc.greater(pc.utf8_length(made), _MOST_CHARACTERS), pa.scalar(None, pa.string()), made)
    return Value(made, TEXT, arguments[0].constant)


def _length(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    paths = _paths(arguments[1:]) or [Path()]

    def length(text: str) -> int | None:
        part = _found(_parsed(text), paths[0], session.flavour)
        return None if part is None else len(part.parts) if part.kind else 1

    made = by_distinct(_documents(arguments[0], session), length, pa.int64())
    return numbers(made, constant=arguments[0].constant)


def _valid(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    if value.type.base == "json":
        return truth(pc.if_else(value.values.is_valid(), True, pa.scalar(None, pa.bool_())), constant=value.constant)
    raise NotComputable("JSON_VALID of a value that is not a document")


def _quote(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    return Value(by_distinct(as_text(value, session), quoted), TEXT, value.constant)


def _scalar(value: Value, session: Session) -> Value:
    """A value as a part of a document, as its text."""
    if value.is_null:
        made = pa.nulls(len(value.values), pa.string())
    elif not value.shows or value.type.base == "bit":
        raise NotComputable("a number whose digits are not known in a document")
    elif value.type.base == "json":
        made = value.values
    elif value.type is BOOL and session.flavour == "mariadb":
        raise NotComputable("a boolean in a document, which is 1 once it has been stored")
    elif value.type is BOOL:
        made = pc.if_else(pc.equal(value.values, 0), "false", "true")
    elif value.is_text and (session.flavour == "mysql" or value.constant or value.type.base != "longtext"):
        made = by_distinct(value.values, quoted)
    elif value.type.base == "double" and session.flavour == "mysql":
        made = by_distinct(value.values, to_text)
    elif pa.types.is_decimal(value.values.type) or pa.types.is_integer(value.values.type) or \
            value.type.base == "double":
        padded = session.flavour == "mysql" and (value.type.zerofill or value.type.base == "year")
        type_ = replace(value.type, base="bigint" if value.type.base == "year" else value.type.base, zerofill=False) \
            if padded else value.type
        made = shown(value.values, type_, session.flavour)
    else:
        raise NotComputable(f"{value.type.base.upper()} in a document")
    return Value(made.fill_null("null"), JSON, value.constant)


def _array(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    parts = [_scalar(value, session) for value in arguments]
    if not parts:
        return Value(pa.array(["[]"]), JSON, constant=True)
    joined = pc.binary_join_element_wise(*together(parts, n), ", ")
    return Value(pc.binary_join_element_wise("[", joined, "]", ""), JSON, all(part.constant for part in parts))


def _object(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """MySQL orders members by the length, then the bytes, of their names, and keeps the last of one name."""
    names = [one(value) for value in arguments[::2]]
    if len(arguments) % 2 or not all(isinstance(name, str) for name in names):
        raise NotComputable("JSON_OBJECT whose names are not text")
    members = list(zip(names, (_scalar(value, session) for value in arguments[1::2]), strict=True))
    if session.flavour == "mysql":
        members = sorted(dict(members).items(), key=lambda member: (len(member[0].encode()), member[0].encode()))
    if not members:
        return Value(pa.array(["{}"]), JSON, constant=True)
    values = together([part for _, part in members], n)
    parts = [pc.binary_join_element_wise(f"{quoted(name)}: ", array, "")
             for (name, _), array in zip(members, values, strict=True)]
    joined = pc.binary_join_element_wise(*parts, ", ")
    return Value(pc.binary_join_element_wise("{", joined, "}", ""), JSON, all(part.constant for _, part in members))


FUNCTIONS: dict[str, Function] = {
    "JSON_EXTRACT": _extract, "JSON_UNQUOTE": _unquote, "JSON_VALUE": _value, "JSON_LENGTH": _length,
    "JSON_VALID": _valid, "JSON_QUOTE": _quote, "JSON_ARRAY": _array, "JSON_OBJECT": _object,
}
