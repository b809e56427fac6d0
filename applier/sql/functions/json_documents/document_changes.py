"""Functions that make a document from others: JSON_SET and the like, JSON_REMOVE, JSON_MERGE_PATCH.

Each distinct set of arguments is computed once. MariaDB keeps the order of members, and numbers and text as written.
Source: MySQL manual, "Functions That Modify JSON Values"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.session import Session
from applier.mysql.types import BINARY
from applier.sql.casting.texts import by_distinct, in_charset
from applier.sql.functions.json_documents.document_nodes import Node, TextNode, found, named, parsed
from applier.sql.functions.json_documents.documents import as_documents, paths_of
from applier.sql.functions.json_documents.new_documents import WITHOUT_ASCII, as_part
from applier.sql.nodes import Call
from applier.sql.values import JSON, Arguments, Function, Value, is_ascii, together
from jsondiff.path import Leg, Member, Path

_BETWEEN = "\0"
"""No document's text has it."""
_IN_MARIADB = frozenset({"JSON_SET", "JSON_INSERT", "JSON_REPLACE", "JSON_REMOVE", "JSON_MERGE_PATCH"})
_Change = Callable[[Node, Path, Node], Node]


def _of_parts(parts: list[Value], make: Callable[[list[Node]], Node | None], session: Session, n: int) -> Value:
    """Apply `make` to the documents of each row; NULL if one of them is NULL."""
    constant = all(part.constant for part in parts)
    kind = Node if session.flavour == "mysql" else TextNode
    joined = pc.binary_join_element_wise(*together(parts, n), _BETWEEN)

    def made(text: str) -> str | None:
        node = make([parsed(part, kind) for part in text.split(_BETWEEN)])
        return None if node is None else node.written()

    return Value(by_distinct(joined, made), JSON, constant)


def _changing(change: _Change) -> Function:
    """A function of a document, and of paths and values in turn."""
    def function(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        _check(session, call)
        if len(arguments) % 2 == 0:
            raise NotComputable(f"{call.name} without a value for each path")
        if any(value.is_null for value in (arguments[0], *arguments[1::2])):
            return Value(pa.nulls(1, pa.string()), JSON, constant=True)
        paths = paths_of(arguments[1::2])
        _check_charsets(arguments[0], arguments[2::2], session)
        parts = [Value(as_documents(arguments[0], session), JSON, arguments[0].constant),
                 *(as_part(value, session) for value in arguments[2::2])]
        made = _of_parts(parts, lambda nodes: reduce(
            lambda node, step: change(node, *step), zip(paths, nodes[1:], strict=True), nodes[0]), session, n)
        return made if session.flavour == "mysql" else _in_set_of(arguments[0], made, session)

    return function


def _in_set_of(document: Value, made: Value, session: Session) -> Value:
    """What MariaDB makes of a document: characters that its set does not have are written by their numbers, and the
    result is NULL if one of them has more than four digits."""
    texts = set(made.values.drop_null().to_pylist())
    letters = sorted({letter for text in texts if not text.isascii() for letter in text if not letter.isascii()})
    charset = document.type.charset or session.literals
    known = in_charset(pa.array(letters, pa.string()), charset).to_pylist()
    lacking = {ord(letter): None if letter > "\uffff" else f"\\u{ord(letter):04X}"
               for letter, found in zip(letters, known, strict=True) if found != letter}
    if not lacking:
        return made
    if document.type.base == "json" or charset in WITHOUT_ASCII:  # in which a backslash is another code
        raise NotComputable("text in a document whose character set may not have it")

    def written(text: str) -> str | None:
        beyond = any(code in lacking and lacking[code] is None for code in map(ord, text))
        return None if beyond else text.translate(lacking)

    return replace(made, values=by_distinct(made.values, written))


def _remove(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    _check(session, call)
    if any(value.is_null for value in arguments):
        return Value(pa.nulls(1, pa.string()), JSON, constant=True)
    paths = paths_of(arguments[1:])
    if not all(path.legs for path in paths):
        raise NotComputable("JSON_REMOVE of a whole document")
    document = Value(as_documents(arguments[0], session), JSON, arguments[0].constant)
    return _of_parts([document], lambda nodes: reduce(_without, paths, nodes[0]), session, n)


def _merging(merge: Callable[[Node, Node], Node]) -> Function:
    """A function of documents that merges the first two, the result with the third, and so on. NULL with another
    document is NULL; only of JSON_MERGE_PATCH, a later document that is no object stands for itself."""
    def function(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        _check(session, call)
        parts = [Value(as_documents(value, session), JSON, value.constant) for value in arguments]
        if merge is _overlaid and any(part.values.null_count for part in parts) and not all(
                part.constant and part.values[0].as_py() and part.values[0].as_py().startswith("{")
                for part in parts[1:]):
            raise NotComputable("JSON_MERGE_PATCH of NULL")
        return _of_parts(parts, lambda nodes: reduce(merge, nodes), session, n)

    return function


def _check_charsets(document: Value, parts: list[Value], session: Session) -> None:
    """MariaDB does not convert the bytes of a document that becomes a part of another one. Raises NotComputable where
    they may be of another character set."""
    inner = [part for part in parts if part.is_document or (part.type.base == "json" and not part.is_null)]
    charsets = {value.type.charset or session.literals for value in (document, *inner)}
    if session.flavour == "mariadb" and len(charsets) > 1 and not charsets <= UTF8 and not all(
            part.type.base in BINARY or is_ascii(part.values) for part in inner):
        raise NotComputable("a document that is not ASCII within one of another character set")


def _check(session: Session, call: Call) -> None:
    if session.flavour != "mysql" and call.name not in _IN_MARIADB:
        raise NotComputable(f"{call.name}(…)")


# ---- one document


def _at(node: Node, legs: tuple[Leg, ...], change: Callable[[Node], Node]) -> Node:
    """A document with the part that a path leads to changed; the same document if it does not have that part."""
    if not legs:
        return change(node)
    place = _place(node, legs[0])
    if place is None:
        return node
    if place < 0:
        return _at(node, legs[1:], change)
    parts = (*node.parts[:place], _at(node.parts[place], legs[1:], change), *node.parts[place + 1:])
    return replace(node, parts=parts)


def _place(node: Node, leg: Leg) -> int | None:
    """The number of the part that a leg leads to, -1 for the value itself, which counts as an array of one."""
    if isinstance(leg, Member):
        return named(node, leg.name) if node.kind == "{" else None
    if node.kind != "[":
        if isinstance(node, TextNode):
            raise NotComputable("a cell of what is no array")
        return -1 if leg.index == 0 else None
    place = len(node.parts) - 1 - leg.index if leg.from_end else leg.index
    return place if 0 <= place < len(node.parts) else None


def _replaced(node: Node, path: Path, part: Node) -> Node:
    return _at(node, path.legs, lambda _: part)


def _inserted(node: Node, path: Path, part: Node) -> Node:
    """A new member, or a new last or first cell of an array, where the path leads to nothing but its parent exists."""
    if found(node, path, "mysql") is not None or not path.legs:
        return node
    last = path.legs[-1]

    def added(parent: Node) -> Node:
        if isinstance(last, Member):
            return parent.with_member(last.name, part) if parent.kind == "{" else parent
        cells = parent.parts if parent.kind == "[" else (parent,)
        if isinstance(parent, TextNode) and parent.kind != "[":
            raise NotComputable("a cell of what is no array")
        return type(parent)("[", "", (), (part, *cells) if last.from_end else (*cells, part))

    return _at(node, path.legs[:-1], added)


def _set(node: Node, path: Path, part: Node) -> Node:
    return (_inserted if found(node, path, "mysql") is None else _replaced)(node, path, part)


def _appended(node: Node, path: Path, part: Node) -> Node:
    return _at(node, path.legs, lambda old: Node(
        "[", "", (), (*(old.parts if old.kind == "[" else (old,)), part)))


def _put_in(node: Node, path: Path, part: Node) -> Node:
    if not path.legs or isinstance(path.legs[-1], Member):
        raise NotComputable("JSON_ARRAY_INSERT at what is no cell of an array")
    last = path.legs[-1]

    def with_cell(parent: Node) -> Node:
        if parent.kind != "[":
            return parent
        place = max(len(parent.parts) - 1 - last.index, 0) if last.from_end else last.index
        return Node("[", "", (), (*parent.parts[:place], part, *parent.parts[place:]))

    return _at(node, path.legs[:-1], with_cell)


def _without(node: Node, path: Path) -> Node:
    last = path.legs[-1]

    def less(parent: Node) -> Node:
        place = _place(parent, last)
        if place is None:
            return parent
        if place < 0:
            raise NotComputable("JSON_REMOVE of a cell of what is no array")
        return replace(parent, names=parent.names[:place] + parent.names[place + 1:],
                       parts=parent.parts[:place] + parent.parts[place + 1:])

    return _at(node, path.legs[:-1], less)


def _overlaid(node: Node, patch: Node) -> Node:
    """RFC 7396."""
    if patch.kind != "{":
        return patch
    made = node if node.kind == "{" else type(node)("{")
    for name, part in patch.members():
        place = named(made, name)
        if part.text == "null" and not part.kind:
            made = made if place is None else _without(made, Path((Member(name),)))
        else:
            made = made.with_member(name, _overlaid(type(node)("{") if place is None else made.parts[place], part))
    return made


def _merged(node: Node, other: Node) -> Node:
    """Arrays one after the other, members of both; two values of one name, and other values, become an array."""
    if node.kind == other.kind == "{":
        for name, part in other.members():
            place = named(node, name)
            node = node.with_member(name, part if place is None else _merged(node.parts[place], part))
        return node
    both = (one.parts if one.kind == "[" else (one,) for one in (node, other))
    return Node("[", "", (), sum(both, ()))


FUNCTIONS: dict[str, Function] = {
    "JSON_SET": _changing(_set), "JSON_INSERT": _changing(_inserted), "JSON_REPLACE": _changing(_replaced),
    "JSON_ARRAY_APPEND": _changing(_appended), "JSON_ARRAY_INSERT": _changing(_put_in), "JSON_REMOVE": _remove,
    "JSON_MERGE_PATCH": _merging(_overlaid), "JSON_MERGE_PRESERVE": _merging(_merged), "JSON_MERGE": _merging(_merged),
}
