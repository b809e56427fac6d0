"""Functions that look for a document in another one: JSON_CONTAINS, JSON_OVERLAPS, MEMBER OF; and how MySQL compares
a document with text."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.sql.casting.texts import by_distinct
from applier.sql.functions.combinations import computed
from applier.sql.functions.json_documents.document_nodes import Node, found, parsed
from applier.sql.functions.json_documents.documents import (
    as_documents,
    begins_with_number,
    check_beginning,
    is_document,
    paths_of,
)
from applier.sql.functions.json_documents.new_documents import as_part
from applier.sql.nodes import Call
from applier.sql.values import Arguments, Function, Value, as_text, numbers, together, truth
from jsondiff.path import Path


def in_order_of_documents(arguments: Arguments, session: Session, n: int) -> list[pa.Array]:
    """A document and a text as bytes that compare as MySQL's documents do: null and numbers are less than strings,
    which compare by their bytes, and all else is larger. Raises NotComputable for a string that may be a date, a time
    or bytes, which its text does not tell."""
    texts = [value.values if value.type.base == "json" else by_distinct(
        as_text(value, session), lambda text: None if text is None else json.dumps(text)) for value in arguments]
    given = [value for value in arguments if value.type.base == "json"]
    if any(pc.any(pc.match_substring_regex(value.values, _TYPED)).as_py() for value in given):
        raise NotComputable("a document that may be a date, a time or bytes compared")
    arrays = [replace(value, values=by_distinct(text, lambda one: None if one is None else _ordered(one), pa.binary()))
              for value, text in zip(arguments, texts, strict=True)]
    return together(arrays, n)


_TYPED = r'^"(-?\d+[-:]\d+[-:]|base64:)'


def _ordered(document: str) -> bytes:
    if document[0] == '"':
        return b"\1" + str(json.loads(document)).encode()
    return b"\2" if document[0] in "{[tf" else b"\0"


def _overlap(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_OVERLAPS: whether arrays share a value, objects a member, or two values are equal."""
    if session.flavour != "mysql":
        raise NotComputable(f"{call.name}(…)")
    if any(value.is_null for value in arguments):
        return numbers(pa.nulls(1, pa.int64()), constant=True)
    arrays = together([replace(value, values=as_documents(value, session)) for value in arguments], n)
    made = computed(arrays, lambda one, other: _overlaps(parsed(one), parsed(other)), pa.bool_())
    return truth(made, constant=all(value.constant for value in arguments))


def _overlaps(one: Node, other: Node) -> bool:
    if one.kind == other.kind == "{":
        members = {(name, _comparable(part)) for name, part in one.members()}
        return any((name, _comparable(part)) in members for name, part in other.members())
    values = {_comparable(part) for part in (one.parts if one.kind == "[" else (one,))}
    return any(_comparable(part) in values for part in (other.parts if other.kind == "[" else (other,)))


def _contains(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """JSON_CONTAINS: whether a document, or the part to which a path leads, has another one in it."""
    if any(value.is_null for value in arguments):
        return numbers(pa.nulls(1, pa.int64()), constant=True)
    [path] = paths_of(arguments[2:]) or [Path()]
    arrays = together([replace(value, values=as_documents(value, session)) for value in arguments[:2]], n)

    def has(text: str, sought: str) -> bool | None:
        if session.flavour == "mariadb" and any(map(begins_with_number, (text, sought))):
            raise NotComputable("JSON_CONTAINS of text that begins with a number")
        if session.flavour == "mariadb" and not (is_document(text) and is_document(sought)):
            check_beginning(text if not is_document(text) else sought)
            return None
        part = found(parsed(text), path, session.flavour)
        if part is None:
            return None if session.flavour == "mysql" else False
        return _has(part, parsed(sought))

    made = computed(arrays, has, pa.bool_())
    return truth(made, constant=all(value.constant for value in arguments[:2]))


def _has(node: Node, sought: Node) -> bool:
    if node.kind == "[":
        return all(any(_has(part, one) for part in node.parts) for one in (
            sought.parts if sought.kind == "[" else (sought,)))
    if node.kind == "{":
        members = dict(node.members())
        return sought.kind == "{" and all(name in members and _has(members[name], part)
                                          for name, part in sought.members())
    return not sought.kind and _comparable(node) == _comparable(sought)


def _is_member(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """MEMBER OF: whether an array has a value, or a document is it."""
    value, documents = arguments
    if any(argument.is_null for argument in arguments):
        return numbers(pa.nulls(1, pa.int64()), constant=True)
    arrays = together([as_part(value, session), replace(documents, values=as_documents(documents, session))], n)
    arrays[0] = pc.if_else(value.of_rows(len(arrays[0])).is_null(), pa.scalar(None, pa.string()), arrays[0])

    def has(one: str, within: str) -> bool:
        node = parsed(within)
        return _comparable(parsed(one)) in map(_comparable, node.parts if node.kind == "[" else (node,))

    made = computed(arrays, has, pa.bool_())
    return truth(made, constant=all(argument.constant for argument in arguments))


def _comparable(node: Node) -> object:
    """A value that is equal where two parts of documents are."""
    if node.kind == "{":
        return frozenset((name, _comparable(part)) for name, part in node.members())
    if node.kind == "[":
        return tuple(map(_comparable, node.parts))
    if node.text.startswith('"') or node.text in ("true", "false", "null"):
        return node.text
    return Decimal(node.text)


FUNCTIONS: dict[str, Function] = {
    "JSON_OVERLAPS": _overlap, "MEMBER OF": _is_member, "JSON_CONTAINS": _contains,
}
