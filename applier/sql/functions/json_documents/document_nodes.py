"""Documents as trees of parts, which keep the text of each scalar as written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from json.encoder import encode_basestring as quoted

from applier.errors import NotComputable
from jsondiff.path import Member, Path
from jsondiff.values import member_order

_PART = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)\s*')
_MOST_DEPTH = 100


@dataclass(frozen=True)
class Node:
    """A part of a document: `kind` is "{", "[" or, for a scalar, "", with the text as written. An object's members have
    names, an array's cells have none."""

    kind: str
    text: str = ""
    names: tuple[str, ...] = ()
    parts: tuple[Node, ...] = ()

    def written(self) -> str:
        """The text, with a space after each comma and colon."""
        if self.kind == "{":
            members = zip(self.names, self.parts, strict=True)
            return "{" + ", ".join(f"{name}: {part.written()}" for name, part in members) + "}"
        return "[" + ", ".join(part.written() for part in self.parts) + "]" if self.kind else self.text

    def members(self) -> Iterator[tuple[str, Node]]:
        """The members of an object, by their names without quotes."""
        return zip(map(json.loads, self.names), self.parts, strict=True)

    def with_member(self, name: str, part: Node) -> Node:
        """An object with one more or another member, in MySQL's order of names."""
        members = dict(self.members()) | {name: part}
        names = sorted(members, key=member_order)
        return Node("{", "", tuple(map(quoted, names)), tuple(members[name] for name in names))


class TextNode(Node):
    """A part of a document of MariaDB: text, whose members stay in the order in which they were written."""

    def with_member(self, name: str, part: Node) -> Node:
        names = list(map(json.loads, self.names))
        if len(set(names)) < len(names):
            raise NotComputable("a document with a name twice")
        if name in names:
            place = names.index(name)
            return replace(self, parts=(*self.parts[:place], part, *self.parts[place + 1:]))
        return replace(self, names=(*self.names, quoted(name)), parts=(*self.parts, part))


def parsed(text: str, kind: type[Node] = Node) -> Node:
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
    return _node(words, 0, kind)


def _node(words: list[str], depth: int, kind: type[Node]) -> Node:
    if depth > _MOST_DEPTH:
        raise NotComputable("a document with too many levels")
    word = words.pop()
    if word not in "{[":
        return kind("", word)
    names, parts = [], []
    while words[-1] not in "}]":
        if word == "{":
            names.append(words.pop())
            words.pop()  # the colon
        parts.append(_node(words, depth + 1, kind))
        if words[-1] == ",":
            words.pop()
    words.pop()
    return kind(word, "", tuple(names), tuple(parts))


def found(node: Node | None, path: Path, flavour: str) -> Node | None:
    """The part that a path leads to. A value that is not an array counts as an array of itself."""
    for leg in path.legs:
        if node is None:
            return None
        if isinstance(leg, Member):
            place = named(node, leg.name)
            node = None if place is None else node.parts[place]
        elif node.kind != "[":
            itself = leg.index == 0 and (not leg.from_end or flavour == "mysql")
            node = node if itself else None
        else:
            place = len(node.parts) - 1 - leg.index if leg.from_end else leg.index
            node = node.parts[place] if 0 <= place < len(node.parts) else None
    return node


def named(node: Node, name: str) -> int | None:
    """The number of an object's member; None for other parts."""
    names = [json.loads(text) for text in node.names]
    return names.index(name) if name in names else None
