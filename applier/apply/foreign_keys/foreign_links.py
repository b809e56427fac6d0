"""Foreign keys between row stores: which columns and parts of which tables correspond, in the kernels' format."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from applier.apply.foreign_keys import cascade_layout as k
from applier.apply.search.row_part_encoder import RowPartEncoder
from applier.apply.spec import RowPart
from applier.errors import NotComputable
from applier.schema.definition import TableDefinition
from applier.schema.foreign_keys import CASCADE, SET_NULL, ForeignKey
from applier.schema.key_infos import column_infos, key_collation, key_infos
from applier.schema.references import ColumnLink, Reference
from applier.schema.sibling_order import SiblingOrder
from applier.schema.table_parts import KeyPart
from keysearch.addresses import address_of
from keysearch.choose import server_order

_ACTIONS = {CASCADE: k.CASCADE, SET_NULL: k.SET_NULL}


def compared(column: int, link: ColumnLink, child: TableDefinition) -> RowPart:
    """Return the part of a column that a foreign key compares, on either side of a link."""
    return RowPart(column, None, key_collation(child.columns[link.child], child.flavour))


def key_part(key: KeyPart, definition: TableDefinition) -> RowPart:
    """Return the part of a column that an index of the table has. Raises NotComputable for an expression."""
    if key.column is None:
        raise NotComputable(f"what {key.sql()} is", table=definition.full_name)
    column = definition.column_index(key.column)
    return RowPart(column, key.length, key_collation(definition.columns[column], definition.flavour))


def order_of_work(key: ForeignKey, columns: tuple[ColumnLink, ...], child: TableDefinition,
                  parent: TableDefinition) -> tuple[int, bytes]:
    """Return a sort key for the order in which InnoDB processes the foreign keys that refer to a table: index by index,
    and for one index by their names, which begin with the database. (Seen on MySQL 9.7 and MariaDB 10.11.)"""
    referenced = tuple((link.parent, None) for link in columns)
    indexes = server_order(column_infos(parent), key_infos(parent))
    number = next((number for number, index in enumerate(indexes)
                   if index.parts[:len(referenced)] == referenced), len(indexes))
    return number, f"{child.database}/{key.name}".encode()


class Link:
    """A foreign key in force, in memory that the kernels read. `siblings` is the order in which its children are taken,
    `parent` and `child` are the parts of the two tables, `tracked` the columns of each table whose values are followed.
    """

    def __init__(self, reference: Reference, siblings: SiblingOrder | None, parent: RowPartEncoder,
                 child: RowPartEncoder, parent_tracked: list[int], child_tracked: list[int]):
        self._key = reference.key
        self.order = order_of_work(reference.key, reference.columns, child.definition, parent.definition)
        columns: list[tuple[int, ...]] = []
        self._kept: list[np.ndarray] = []
        for link in reference.columns:
            forms = []
            for number, part in enumerate(child.parts):
                if part.column == link.child:
                    null = np.frombuffer(child.null(part) + b"\0", np.uint8)
                    self._kept.append(null)
                    forms.append((number, parent.parts.index(dataclasses.replace(part, column=link.parent)),
                                  address_of(null), len(null) - 1))
            forms_array = np.array(forms, k.FORM)
            self._kept.append(forms_array)
            columns.append((parent_tracked.index(link.parent), child_tracked.index(link.child),
                          parent.parts.index(compared(link.parent, link, child.definition)),
                          child.parts.index(compared(link.child, link, child.definition)),
                          parent.parts.index(RowPart(link.parent)), address_of(forms_array), len(forms)))
        self._columns = np.array(columns, k.KEY_COLUMN)
        self.child_key = tuple(column[3] for column in columns)
        """The child's parts of the key, by which it has an index."""
        self._probe_parts = np.array([column[2] for column in columns], np.int64)
        self._siblings = [0, 0]
        if siblings is not None:
            parts = [(child.parts.index(key_part(key, child.definition)), key.descending)
                      for key in siblings.behind]
            behind = np.array([len(parts), *(~part if descends else part for part, descends in parts)], np.int64)
            self._kept.append(behind)
            self._siblings = [address_of(behind), int(siblings.moves)]

    def record(self, child: int, child_index: int) -> tuple[Any, ...]:
        """Return the link's record (cascade_layout.LINK): `child` is the child's number in the group, `child_index`
        that of its index over `child_key`."""
        actions = [_ACTIONS.get(action, k.NOTHING) for action in (self._key.on_delete, self._key.on_update)]
        probe = len(self._probe_parts), address_of(self._probe_parts), 0, 0, 0, 0
        return child, child_index, *actions, address_of(self._columns), len(self._columns), *self._siblings, probe
