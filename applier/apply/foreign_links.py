"""Foreign keys between row stores: which columns and pieces of which tables belong together, as the kernels read it."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from applier.apply import cascade_layout as k
from applier.apply.row_pieces import Piece, RowPieces
from applier.schema.definition import TableDefinition
from applier.schema.engines import is_transactional
from applier.schema.foreign_keys import CASCADE, RESTRICT, SET_NULL, ForeignKey
from applier.schema.key_infos import column_infos, key_collation, key_infos
from keysearch.choose import server_order

if TYPE_CHECKING:
    from applier.apply.sibling_order import SiblingOrder

_ACTIONS = {CASCADE: k.CASCADE, SET_NULL: k.SET_NULL}


@dataclasses.dataclass(frozen=True)
class ColumnLink:
    """A column of a foreign key by its number in the table, and the one that it refers to by its number there."""

    child: int
    parent: int


DELETED = frozenset((-1,))
"""In place of the columns that change in a row."""


@dataclasses.dataclass(frozen=True)
class Reference:
    """A foreign key in force between two tables, whatever they are known by."""

    key: ForeignKey
    child: Hashable
    parent: Hashable
    columns: tuple[ColumnLink, ...]

    def changes(self, changed: frozenset[int]) -> frozenset[int]:
        """The columns that change in a child where these columns of its parent do; none for nothing."""
        deleted = changed == DELETED
        action = self.key.on_delete if deleted else self.key.on_update
        here = [link.child for link in self.columns if deleted or link.parent in changed]
        if action == RESTRICT or not here:
            return frozenset()
        if action == SET_NULL:
            return frozenset(link.child for link in self.columns)
        return DELETED if deleted else frozenset(here)


def linked_columns(key: ForeignKey, child: TableDefinition, parent: TableDefinition) -> tuple[ColumnLink, ...]:
    """The columns of a foreign key; none where it does nothing: an engine without foreign keys, columns that are not
    there, as foreign_key_checks=0 allows."""
    if not (is_transactional(child) and is_transactional(parent)):
        return ()
    referenced = key.referenced
    if not referenced and parent.primary_key is not None:
        referenced = tuple(part.column for part in parent.primary_key.parts)
    try:
        return tuple(ColumnLink(child.column_index(own), parent.column_index(other))
                     for own, other in zip(key.columns, referenced, strict=True))
    except (KeyError, ValueError):
        return ()


def compared(column: int, link: ColumnLink, child: TableDefinition) -> Piece:
    """What a foreign key compares of a column on either side of a link."""
    return Piece(column, None, key_collation(child.columns[link.child], child.flavour))


def order_of_work(key: ForeignKey, columns: tuple[ColumnLink, ...], child: TableDefinition,
                  parent: TableDefinition) -> tuple[int, bytes]:
    """Ascending in the order in which InnoDB looks at the foreign keys that refer to a table: index by index, and of
    one index by their names, which begin with their databases'. (Seen on MySQL 9.7 and MariaDB 10.11.)"""
    referenced = tuple((link.parent, None) for link in columns)
    indexes = server_order(column_infos(parent), key_infos(parent))
    place = next((number for number, index in enumerate(indexes)
                  if index.parts[:len(referenced)] == referenced), len(indexes))
    return place, f"{child.database}/{key.name}".encode()


class Link:
    """A foreign key in force, in the memory that the kernels read. `siblings` is the order in which its children are
    taken, `parent` and `child` are the tables' pieces, `tracked` the columns of each whose values are followed."""

    def __init__(self, reference: Reference, siblings: SiblingOrder | None, parent: RowPieces, child: RowPieces,
                 parent_tracked: list[int], child_tracked: list[int]):
        self._key = reference.key
        self.order = order_of_work(reference.key, reference.columns, child.definition, parent.definition)
        parts, self._kept = [], []
        for link in reference.columns:
            forms = []
            for number, piece in enumerate(child.pieces):
                if piece.column == link.child:
                    null = np.frombuffer(child.null(piece) + b"\0", np.uint8)
                    self._kept.append(null)
                    forms.append([number, parent.pieces.index(dataclasses.replace(piece, column=link.parent)),
                                  null.ctypes.data, len(null) - 1])
            forms_array = np.array(forms, np.int64)
            self._kept.append(forms_array)
            parts.append([parent_tracked.index(link.parent), child_tracked.index(link.child),
                          parent.pieces.index(compared(link.parent, link, child.definition)),
                          child.pieces.index(compared(link.child, link, child.definition)),
                          parent.pieces.index(Piece(link.parent)), forms_array.ctypes.data, len(forms), 0])
        self._parts = np.array(parts, np.int64)
        self.child_key = tuple(part[3] for part in parts)
        """The child's pieces that have the key: what to index it by."""
        self._probe_pieces = np.array([part[2] for part in parts], np.int64)
        self._siblings = [0, 0]
        if siblings is not None:
            pieces = [(child.pieces.index(piece), descends) for piece, descends in siblings.behind]
            behind = np.array([len(pieces), *(~piece if descends else piece for piece, descends in pieces)], np.int64)
            self._kept.append(behind)
            self._siblings = [behind.ctypes.data, int(siblings.moves)]

    def record(self, child: int, child_index: int) -> list[int]:
        """The words of a link's record: the child's number in the group, and that of its index over `child_key`."""
        actions = [_ACTIONS.get(action, k.NOTHING) for action in (self._key.on_delete, self._key.on_update)]
        words = [child, child_index, *actions, self._parts.ctypes.data, len(self._parts), *self._siblings]
        probe = [len(self._probe_pieces), self._probe_pieces.ctypes.data]
        return words + probe + [0] * (k.LINK_WORDS - len(words) - len(probe))
