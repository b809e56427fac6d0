"""Where it matters in which order a foreign key's children are taken, and which order that is (AP-FK).

What happens to one child touches another, or what refers to that, only where some table below is reached in two ways:
by two foreign keys, of which the child's own is one. And if all that can happen there are deletes, the same rows are
gone in the end in any order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence

from applier.apply.foreign_links import DELETED, Reference
from applier.apply.row_pieces import Piece
from applier.errors import SchemaError
from applier.schema.definition import TableDefinition
from applier.schema.key_infos import column_infos, key_collation, key_infos
from keysearch.choose import server_order


@dataclasses.dataclass(frozen=True)
class SiblingOrder:
    """That a foreign key's children are taken in the order of an index: what that has behind the key, each with whether
    it descends. `moves`: what happens below a child may change some of that in another."""

    behind: tuple[tuple[Piece, bool], ...]
    moves: bool


def sibling_orders(references: Sequence[Reference],
                   tables: Mapping[Hashable, TableDefinition]) -> list[SiblingOrder | None]:
    """The order of each foreign key's children; None where it does not matter. Where one matters among some foreign
    keys, it does among more of them.

    Raises SchemaError where an order matters that goes by computed values.
    """
    below: dict[Hashable, list[Reference]] = {}
    for reference in references:
        below.setdefault(reference.parent, []).append(reference)
    return [_order(reference, tables[reference.child], below) for reference in references]


def _order(reference: Reference, child: TableDefinition,
           below: dict[Hashable, list[Reference]]) -> SiblingOrder | None:
    updated = frozenset(link.parent for link in reference.columns)
    events = [happening for root in (DELETED, updated) if _matters(happening := _happening(reference, root, below))]
    if not events:
        return None
    behind, columns = _behind(reference, child), set()
    for happening in events:
        columns |= {column for other, changed in happening if other.child == reference.child for column in changed}
    return SiblingOrder(behind, not columns.isdisjoint(piece.column for piece, _ in behind))


_Happening = set[tuple[Reference, frozenset[int]]]


def _happening(first: Reference, root: frozenset[int], below: dict[Hashable, list[Reference]]) -> _Happening:
    """All that may come of what happens to a parent: foreign keys, and the columns that each changes."""
    left = [(first, first.changes(root))] * bool(first.changes(root))
    seen = set(left)
    while left:
        reference, changed = left.pop()
        for other in below.get(reference.child, ()):
            made = other, other.changes(changed)
            if made[1] and made not in seen:
                seen.add(made)
                left.append(made)
    return seen


def _matters(happening: _Happening) -> bool:
    ways: dict[Hashable, set[Reference]] = {}
    for reference, _ in happening:
        ways.setdefault(reference.child, set()).add(reference)
    return any(changed != DELETED for _, changed in happening) and any(len(keys) > 1 for keys in ways.values())


def _behind(reference: Reference, child: TableDefinition) -> tuple[tuple[Piece, bool], ...]:
    """What the child's index has behind the key. The server makes one of the key alone where there is none."""
    own = tuple((link.child, None) for link in reference.columns)
    for info in server_order(column_infos(child), key_infos(child)):
        if info.kind not in ("primary", "unique", "key") or info.parts[:len(own)] != own:
            continue
        key = next(key for key in child.row_keys if key.name == info.name)
        for part in key.parts[len(own):]:
            if part.column is None or child.column(part.column).generated:
                raise SchemaError(f"in which order the foreign key {reference.key.name} changes rows depends on "
                                  f"computed values in the key {key.name}", table=child.full_name,
                                  hint="leave the tables that foreign keys tie to it out with --ignore-tables")
        return tuple((_piece(child, column, prefix), part.descending) for (column, prefix), part
                     in zip(info.parts[len(own):], key.parts[len(own):], strict=True))
    return ()


def _piece(child: TableDefinition, column: int, prefix: int | None) -> Piece:
    return Piece(column, prefix, key_collation(child.columns[column], child.flavour))
