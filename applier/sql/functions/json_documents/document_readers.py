"""Functions that read a document, or the parts of it to which paths lead, each distinct document once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, ColumnType
from applier.sql.casting.texts import by_distinct
from applier.sql.functions.json_documents.document_nodes import Node, found, parsed
from applier.sql.functions.json_documents.documents import (
    as_documents,
    is_document,
    is_valid,
    paths_of,
    reading,
    unquoted,
)
from applier.sql.nodes import Call
from applier.sql.values import JSON, TEXT, Arguments, Function, Value, as_text, numbers, one, shown_bytes, truth
from jsondiff.encode import encode
from jsondiff.path import Path
from jsondiff.text import from_text
from jsondiff.values import DocumentError

_MOST_CHARACTERS = 512
"""Length of JSON_VALUE's result in MySQL without RETURNING; NULL for more."""


def _extract(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    paths = paths_of(arguments[1:])

    def extracted(text: str) -> str | None:
        document = parsed(text)
        parts = [part for path in paths if (part := found(document, path, session.flavour)) is not None]
        if not parts:
            return None
        if len(paths) > 1 and session.flavour == "mariadb":
            raise NotComputable("several paths, whose parts MariaDB has in the order of the document")
        return parts[0].written() if len(paths) == 1 else "[" + ", ".join(part.written() for part in parts) + "]"

    made = by_distinct(as_documents(arguments[0], session), reading(extracted, session))
    return Value(made, JSON, arguments[0].constant)


def _unquote(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_UNQUOTE. MariaDB ends at the second quotation mark, whatever comes after it (seen on 10.5, 10.11, 11.8)."""
    [value] = arguments
    text = as_text(value, session)
    if session.flavour == "mariadb" and pc.any(pc.match_substring_regex(text, r'^\s*"(.*[^"])?$|^\s+"')).as_py():
        raise NotComputable("JSON_UNQUOTE of text that only begins like a string")
    return Value(unquoted(text), TEXT, value.constant)


def _value(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [path], document = paths_of(arguments[1:]), arguments[0]
    if session.flavour == "mysql" and document.is_text:  # text that is no document is NULL, and no error
        is_json = by_distinct(as_text(document, session), _is_json, pa.bool_())
        document = replace(document, values=pc.if_else(is_json, document.values, pa.scalar(None, pa.string())))

    def extracted(text: str) -> str | None:
        part = found(parsed(text), path, session.flavour)
        if part is None or part.text == "null":
            return None
        if part.kind and session.flavour == "mariadb":
            return None
        if session.flavour == "mariadb":
            return {"true": "1", "false": "0"}.get(part.text, part.text)
        return part.written()

    made = by_distinct(as_documents(document, session), reading(extracted, session, stops=True))
    if call.word:
        return _whole_value(made, call.word, constant=document.constant)
    made = unquoted(made)
    if session.flavour == "mysql":
        made = pc.if_else(pc.greater(pc.utf8_length(made), _MOST_CHARACTERS), pa.scalar(None, pa.string()), made)
    return Value(made, TEXT, arguments[0].constant)


def _whole_value(parts: pa.Array, word: str, *, constant: bool) -> Value:
    """JSON_VALUE … RETURNING SIGNED or UNSIGNED: a number, rounded half to even, a boolean, or text that is all digits;
    NULL for others, and out of range."""
    low, high = (-2**63, 2**63) if word == "SIGNED" else (0, 2**64)

    def whole(text: str) -> Decimal | None:
        text = {"true": "1", "false": "0"}.get(text, text)
        if not _WHOLE_OR_NUMBER.fullmatch(text):
            return None
        number = Decimal(text.strip('"')).to_integral_value(ROUND_HALF_EVEN)
        return number if low <= number < high else None

    made = by_distinct(parts, whole, pa.decimal128(38, 0))
    return Value(made, ColumnType("bigint", unsigned=word == "UNSIGNED"), constant)


_WHOLE_OR_NUMBER = re.compile(r'"[+-]?\d+"|-?\d+(\.\d+)?([eE][+-]?\d+)?')


def _length(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    paths = paths_of(arguments[1:]) or [Path()]

    def length(text: str) -> int | None:
        part = found(parsed(text), paths[0], session.flavour)
        return None if part is None else len(part.parts) if part.kind else 1

    made = by_distinct(as_documents(arguments[0], session), length, pa.int64())
    return numbers(made, constant=arguments[0].constant)


def _valid(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    if not value.is_text and session.flavour == "mysql":  # which looks at the type of others
        unknown = value.is_null or value.type.base in BINARY or value.type.base == "json"
        unless = pa.scalar(None, pa.bool_()) if unknown else False
        return truth(pc.if_else(value.values.is_valid(), value.type.base == "json", unless), constant=value.constant)
    takes = is_valid if session.flavour == "mariadb" else _is_json
    return truth(by_distinct(as_text(value, session), takes, pa.bool_()), constant=value.constant)


def _is_json(text: str) -> bool:
    try:
        from_text(text)
    except DocumentError:
        return False
    return True


def _of_document(read: Callable[[Node, list[Path]], Any], kind: pa.DataType,
                 servers: Collection[str] = ("mysql", "mariadb")) -> Function:
    """A function that reads a document: of a part of it, if there is a path, else of all."""
    def function(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        if session.flavour not in servers:
            raise NotComputable(f"{call.name}(…)")
        if any(value.is_null for value in arguments):
            return numbers(pa.nulls(1, pa.int64()), constant=True)
        paths = paths_of(arguments[1:])
        def read_text(text: str) -> Any:
            return read(parsed(text), paths)

        def exists(text: str) -> Any:
            if not is_document(text):
                if str(one(arguments[1])).startswith("$.") and not text.lstrip().startswith(("{", "[")):
                    return None
                raise NotComputable("JSON_EXISTS of text that is no document")  # it finds what is before the fault
            return read_text(text)

        made = by_distinct(as_documents(arguments[0], session),
                           read_text if call.name == "JSON_TYPE" else exists if call.name == "JSON_EXISTS" else
                           reading(read_text, session), kind)
        if pa.types.is_boolean(kind):
            return truth(made, constant=arguments[0].constant)
        if pa.types.is_integer(kind):
            return numbers(made, constant=arguments[0].constant)
        is_json = read is _keys and session.flavour == "mysql"
        return Value(made, JSON if is_json else TEXT, arguments[0].constant)

    return function


def _keys(node: Node, paths: list[Path]) -> str | None:
    part = found(node, (paths or [Path()])[0], "mysql")
    names = part.names if part is not None else ()
    return "[" + ", ".join(dict.fromkeys(names)) + "]" if part is not None and part.kind == "{" else None


def _exists(node: Node, paths: list[Path]) -> bool:
    return found(node, paths[0], "mariadb") is not None


def _depth(node: Node, _: list[Path]) -> int:
    return 1 + max((_depth(part, []) for part in node.parts), default=0)


def _compact(node: Node, _: list[Path]) -> str:
    """The text without spaces."""
    parts = [_compact(part, []) for part in node.parts]
    if node.kind == "{":
        return "{" + ",".join(f"{name}:{part}" for name, part in zip(node.names, parts, strict=True)) + "}"
    return "[" + ",".join(parts) + "]" if node.kind else node.text


def _type(node: Node, _: list[Path]) -> str:
    """In MySQL text does not tell the types of numbers, and whether a string is one, or a date."""
    if node.kind:
        return "OBJECT" if node.kind == "{" else "ARRAY"
    if node.text in ("true", "false", "null"):
        return "NULL" if node.text == "null" else "BOOLEAN"
    raise NotComputable("JSON_TYPE of a number or a string")


def _written_type(node: Node, paths: list[Path]) -> str:
    """In MariaDB."""
    if node.kind or node.text in ("true", "false", "null"):
        return _type(node, paths)
    return "STRING" if node.text[0] == '"' else "DOUBLE" if "." in node.text else "INTEGER"


def _type_of(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_TYPE: text that is parsed has whole numbers, doubles and strings."""
    [value] = arguments
    if session.flavour == "mariadb" or not value.is_text:
        read_type = _type if session.flavour == "mysql" else _written_type
        return _of_document(read_type, pa.string())(arguments, call, session, n)

    def read(text: str) -> str:
        node = parsed(text)
        if node.kind or node.text in ("true", "false", "null"):
            return _type(node, [])
        if node.text.startswith('"'):
            return "STRING"
        if not node.text.removeprefix("-").isdigit() or not -2**63 <= int(node.text) < 2**64:
            return "DOUBLE"
        return "INTEGER" if int(node.text) < 2**63 else "UNSIGNED INTEGER"

    return Value(by_distinct(as_documents(value, session), read), TEXT, value.constant)


def _pretty(node: Node, _: list[Path]) -> str:
    return _lines(node, "\n")


def _lines(node: Node, indent: str) -> str:
    if not node.parts:
        return node.written()
    within = indent + "  "
    parts = [_lines(part, within) for part in node.parts]
    if node.kind == "{":
        parts = [f"{name}: {part}" for name, part in zip(node.names, parts, strict=True)]
    return node.kind + ",".join(within + part for part in parts) + indent + {"{": "}", "[": "]"}[node.kind]


def _detailed(node: Node, _: list[Path]) -> str:
    return _detailed_lines(node, "\n")


def _detailed_lines(node: Node, indent: str) -> str:
    """Return MariaDB's form of several lines: a value with parts begins a line of its own, and an array of one scalar
    is one line."""
    if not node.kind or (node.kind == "[" and (not node.parts or (len(node.parts) == 1 and not node.parts[0].kind))):
        return node.written()
    within = indent + "    "
    parts = [_detailed_lines(part, within) for part in node.parts]
    if node.kind == "{":
        parts = [f"{name}: {within if part.kind else ''}{text}"
                 for name, part, text in zip(node.names, node.parts, parts, strict=True)]
    return node.kind + ",".join(within + part for part in parts) + indent + {"{": "}", "[": "]"}[node.kind]


def _stored_size(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_STORAGE_SIZE: the bytes of the binary document. The text of a JSON value does not tell every type, nor how
    much room partial updates left in a column."""
    [value] = arguments
    if session.flavour != "mysql" or not (value.is_text or value.type.base == "json"):
        raise NotComputable(f"{call.name}(…)")
    documents = as_documents(value, session)
    if not value.is_text and (value.is_column or pc.any(pc.match_substring_regex(documents, _TYPED)).as_py()):
        raise NotComputable("JSON_STORAGE_SIZE of a document whose text does not tell its size")
    made = by_distinct(documents, lambda text: len(encode(from_text(text))), pa.int64())
    return numbers(made, constant=value.constant)


_TYPED = r'(^|[\[:,] ?)("(-?\d|base64:)|-?\d+[.eE])'
"""Scalars of a canonical text that may have been made of a date, a time, bytes or a DECIMAL."""


def _queried(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_QUERY of MariaDB: the part that is an object or an array, as written in the document."""
    [path] = paths_of(arguments[1:]) or [Path()]

    def query(text: str) -> str | None:
        part = found(parsed(text), path, session.flavour)
        if part is None or not part.kind:
            return None
        whole = text.strip()
        if path == Path() or part.written() in whole:
            return whole if path == Path() else part.written()
        raise NotComputable("JSON_QUERY of a part with other spaces than usual")

    made = by_distinct(as_documents(arguments[0], session), reading(query, session, stops=True))
    return Value(made, JSON, arguments[0].constant)


def _is_of_schema(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_SCHEMA_VALID by the schema that has no rule."""
    schema, value = arguments
    if session.flavour != "mysql" or parsed(str(one(schema))).written() != "{}":
        raise NotComputable("JSON_SCHEMA_VALID by a schema")
    made = as_documents(value, session)
    return truth(pc.if_else(made.is_valid(), True, pa.scalar(None, pa.bool_())), constant=value.constant)


def _contains_path(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    value, how, *others = arguments
    if any(argument.is_null for argument in arguments):
        return numbers(pa.nulls(1, pa.int64()), constant=True)
    if how.type.base in BINARY:
        how = Value(shown_bytes(how), TEXT, how.constant)
    paths, words = paths_of(others), str(one(how)).lower()
    if words not in ("one", "all"):
        raise NotComputable("JSON_CONTAINS_PATH of neither one nor all")

    def contains(text: str) -> bool:
        document = parsed(text)
        return (any if words == "one" else all)(found(document, path, session.flavour) for path in paths)

    made = by_distinct(as_documents(value, session), reading(contains, session), pa.bool_())
    return truth(made, constant=value.constant)


FUNCTIONS: dict[str, Function] = {
    "JSON_EXTRACT": _extract, "JSON_UNQUOTE": _unquote, "JSON_VALUE": _value, "JSON_LENGTH": _length,
    "JSON_VALID": _valid, "JSON_KEYS": _of_document(_keys, pa.string()), "JSON_DEPTH": _of_document(_depth, pa.int64()),
    "JSON_EXISTS": _of_document(_exists, pa.bool_(), ["mariadb"]),
    "JSON_COMPACT": _of_document(_compact, pa.string(), ["mariadb"]), "JSON_TYPE": _type_of,
    "JSON_PRETTY": _of_document(_pretty, pa.string(), ["mysql"]), "JSON_SCHEMA_VALID": _is_of_schema,
    "JSON_DETAILED": _of_document(_detailed, pa.string(), ["mariadb"]), "JSON_QUERY": _queried,
    "JSON_CONTAINS_PATH": _contains_path, "JSON_STORAGE_SIZE": _stored_size,
}
