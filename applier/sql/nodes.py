"""SQL expressions as trees: operators and functions are both calls by their name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Literal:
    """`kind` is "string", "number", "bytes" (hexadecimal digits), "null" or "bool" (1 or 0); `charset` is that of an
    introducer, `is_number` that of a token."""

    kind: str
    text: str = ""
    charset: str | None = None
    is_number: bool | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Name:
    """A column."""

    name: str


@dataclass(frozen=True)
class Call:
    """A function or an operator by its name in capitals. `word` is an argument that is not a value: the unit of an
    interval or a part of a date, a type or a character set."""

    name: str
    arguments: tuple[Node, ...] = ()
    word: str = ""


Node = Literal | Name | Call


def nodes_of(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for argument in node.arguments if isinstance(node, Call) else ():
        yield from nodes_of(argument)


def levels_of(node: Node) -> int:
    """The levels of the tree: 1 for a leaf."""
    levels, below = 0, [node]
    while below:
        levels += 1
        below = [argument for one in below if isinstance(one, Call) for argument in one.arguments]
    return levels
