"""Tables that foreign keys connect, in one task: their changes in log order, and the effects of these on other rows,
which are not in the log (AP-FK).

Each batch has changes of one table, so all tables hand over their batches together, and a kernel applies the changes in
the order of their event numbers. Values that foreign keys set come from after-images. Each value of a batch has a
number. The kernel reports which ones are needed, and they become rows of the bases, to which pointers lead as to any
other row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.foreign_keys import cascade_layout as k
from applier.apply.foreign_keys.cascade_kernel import AS_IT_IS, ENDS_ROW, MAKES_NONE, apply_group
from applier.apply.foreign_keys.foreign_links import Link
from applier.apply.index.status import Status
from applier.apply.index.store.row_parts import Search
from applier.apply.index.unit_index import Conflict
from applier.apply.output.row_steps import Causes
from applier.apply.search.row_keys import RowKeys, StoredChanges
from applier.apply.spec import GroupMembership
from applier.apply.tables.table_walk import TableWalk
from applier.apply.tables.unit import UnitApplier
from applier.binlog.events.format import NO_FOREIGN_KEY_CHECKS_FLAG, WITHOUT_CASCADES
from applier.binlog.rows.change_records import EVENT_FLAG_BITS
from applier.binlog.rows.changes import ChangeBatch
from applier.errors import ReplayStopped
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.references import Reference, linked_columns
from applier.schema.sibling_order import BY_CLUSTERED_KEY, sibling_orders
from applier.schema.versioning import ENDS_OF_TIME
from keysearch.addresses import address_of

_FIRST_ROOM = 1 << 10


@dataclasses.dataclass(frozen=True, eq=False)
class GroupMember:
    """A table of a foreign-key group: its walk through the log, its only unit, and when that belongs to the group."""

    walk: TableWalk
    unit: UnitApplier
    membership: GroupMembership

    @property
    def batch(self) -> ChangeBatch | None:
        """The batch that the reader currently fills; None before the first table map."""
        bound = self.walk.bound
        return None if bound is None or bound.binding is None else bound.binding.batch


class _Table:
    """A version of a table in a group. `taken` is its part of the current batch."""

    def __init__(self, member: GroupMember):
        self.member, self.unit = member, member.unit
        self._store = self.unit.store
        self.parts, self.index = self._store.parts, self._store.index
        self.links: list[tuple[Link, int]] = []
        self.tracked: list[int] = []
        self.taken: _Taken | None = None
        self.derived = np.empty((0, 0), np.int64)

    @property
    def definition(self) -> TableDefinition:
        return self.parts.definition

    def ready(self) -> None:
        """Allocate the memory that the kernels read, once all links are known."""
        self._tracked = np.array(self.tracked, np.int64)
        self.derived = np.empty((_FIRST_ROOM, len(self.tracked)), np.int64)

    def take_batch(self) -> None:
        """Take the reader's batch of the table, if there is one."""
        bound, batch = self.member.walk.bound, self.member.batch
        self.taken = None
        if bound is None or batch is None or not batch.n:
            return
        bound.reading.drop_no_op_updates(batch)
        if batch.n:
            reader = RowKeys(self.parts, bound.reading.table_map, bound.reading.layouts)
            versioning = self.definition.versioning
            ends = self.definition.column_index(versioning.row_end) if versioning is not None and self.links else None
            self.taken = _Taken(batch, reader, reader.of_batch(batch), ends)
            self._store.prepare(self.taken.changes, bound.reading.layouts)

    def finish_batch(self, taken: _Taken, conflict: Conflict | None) -> None:
        """Record the result of the taken batch."""
        self.unit.finish_batch(taken.changes, self._store.finish_batch(taken.changes, conflict))

    def record(self, links: np.ndarray, first_value: int, n_derived: int, made: int) -> tuple[int, ...]:
        """Return the table's record (cascade_layout.TABLE); the kernel changes its last two fields."""
        return (self.index.address, self.index.state_address, address_of(links), len(links),
                len(self.tracked), first_value, address_of(self._tracked), address_of(self.derived), len(self.derived),
                n_derived, self.unit.base_rows, made)

    def grow_derived(self) -> None:
        self.derived = np.concatenate([self.derived, np.empty((len(self.derived), len(self.tracked)), np.int64)])


@dataclasses.dataclass(frozen=True, eq=False)
class _Taken:
    """A batch of a table, with its reader and the input of its unit."""

    batch: ChangeBatch
    reader: RowKeys
    changes: StoredChanges
    row_end: int | None
    """The number of the column with the end of a row's validity, in a system-versioned table."""

    def effects(self) -> np.ndarray:
        """Return the effect of each change on rows that refer to its row: uint8[n]. A past row has no children: for
        them, an update that makes a row past is a deletion, and later changes of it have no effect."""
        batch, found = self.batch, np.full(self.batch.n, AS_IT_IS, np.uint8)
        if self.row_end is None:
            return found
        before, after = (_of_changes(_are_past(values), rows) for values, rows in (
            (self.reader.before_values(batch, self.row_end), batch.before_rows),
            (self.reader.after_values(batch, self.row_end), batch.after_rows)))
        found[after & (batch.before_rows >= 0)] = ENDS_ROW
        found[before] = MAKES_NONE
        return found


def _are_past(ends: pa.Array) -> np.ndarray:
    """Return which rows are past, given the ends of their validity."""
    return ~np.asarray(pc.is_in(ends.cast(pa.int64()), value_set=pa.array(ENDS_OF_TIME, pa.int64())))


def _of_changes(rows: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Map a property of rows (bool[m]) to the changes whose rows have these numbers; -1 for no row."""
    return np.where(numbers >= 0, rows[np.maximum(numbers, 0)], False) if len(rows) else \
        np.zeros(len(numbers), np.bool_)


class ForeignKeyGroup:
    """One foreign-key group of tables in a task. Between two calls of `advance` the same versions of the tables are in
    force; it takes all their batches."""

    def __init__(self, members: Iterable[GroupMember]):
        self._members = sorted(members, key=lambda member: member.unit.spec.version)
        for member in self._members:
            member.walk.taker = self._take
        idempotent = self._members[0].unit.spec.idempotent  # children may be there that the source had not
        self._without = NO_FOREIGN_KEY_CHECKS_FLAG if idempotent else WITHOUT_CASCADES
        self._tables: list[_Table] = []
        self._in_force: list[GroupMember] | None = None
        self._stack = np.empty(_FIRST_ROOM, k.ROW)
        self._scratch = np.empty(_FIRST_ROOM << 6, np.uint8)

    # ---- versions

    def changes_at(self, position: tuple[int, int]) -> bool:
        """Return whether the versions in force at a position differ from those at the last one."""
        return self._at(position) != self._in_force

    def _at(self, position: tuple[int, int]) -> list[GroupMember]:
        return [member for member in self._members if member.membership.holds_at(position)]

    def advance(self, position: tuple[int, int]) -> None:
        """Continue at a position of the log; all batches before it have been handed over."""
        if not self.changes_at(position):
            return
        self._in_force = self._at(position)
        known = {table.member: table for table in self._tables}
        self._tables = [known.get(member) or _Table(member) for member in self._in_force]
        self._link()

    def _link(self) -> None:
        """Find the foreign keys in force."""
        numbers = {(table.definition.database, table.definition.name): n for n, table in enumerate(self._tables)}
        found: list[tuple[Reference, int, int]] = []
        for number, child in enumerate(self._tables):
            child.links, child.tracked = [], []
            for key in child.definition.foreign_keys:
                parent = numbers.get((key.database, key.table))
                if key.cascades and parent is not None and \
                        (columns := linked_columns(key, child.definition, self._tables[parent].definition)) and \
                        tuple(link.parent for link in columns) not in self._tables[parent].member.membership.unfollowed:
                    found.append((Reference(key, number, parent, columns), number, parent))
        for reference, number, parent in found:
            for table, column in [(self._tables[number], link.child) for link in reference.columns] + \
                                 [(self._tables[parent], link.parent) for link in reference.columns]:
                if column not in table.tracked:
                    table.tracked.append(column)
        orders = sibling_orders([reference for reference, _, _ in found],
                                {number: table.definition for number, table in enumerate(self._tables)})
        # steps are numbered in their order, which must not depend on where the log or the base begins
        default = BY_CLUSTERED_KEY if any(member.walk.is_traced for member in self._members) else None
        for (reference, number, parent), order in zip(found, orders, strict=True):
            above, below = self._tables[parent], self._tables[number]
            link = Link(reference, order or default, above.parts, below.parts, above.tracked, below.tracked)
            below.index.index_by(Search(parts=link.child_key))
            above.links.append((link, number))
        for table in self._tables:
            table.links.sort(key=lambda entry: entry[0].order)
            table.ready()

    # ---- changes

    def _take(self, batch: ChangeBatch) -> None:
        """Take the batches of all tables, as a reader hands over the batch of one of them."""
        if any(table.unit.is_stopped for table in self._tables):
            return
        for table in self._tables:
            if table.member.batch is not None:
                table.member.batch.file = batch.file
            table.take_batch()
        changed = [(number, table, table.taken) for number, table in enumerate(self._tables)
                   if table.taken is not None]
        if changed:
            self._apply(changed)
        for table in self._tables:
            if table.member.batch is not None and table.member.batch is not batch:
                table.member.batch.reset()
            table.taken = None

    def _apply(self, changed: list[tuple[int, _Table, _Taken]]) -> None:
        events = np.concatenate([taken.batch.events for _, _, taken in changed])
        order = np.argsort(events >> EVENT_FLAG_BITS, kind="stable")
        tables = np.concatenate([np.full(taken.batch.n, number) for number, _, taken in changed])[order]
        changes = np.concatenate([np.arange(taken.batch.n) for _, _, taken in changed])[order]
        cascades = np.concatenate([taken.effects() for _, _, taken in changed])[order]
        cascades[((events & self._without) != 0)[order]] = MAKES_NONE
        group = np.zeros((), k.GROUP)
        counts = [(0, 0)] * len(self._tables)
        stopped: tuple[_Table, Conflict] | None = None
        while True:
            records = self._describe(group, counts)
            status = apply_group(len(order), address_of(tables), address_of(changes), address_of(cascades),
                                 address_of(group))
            counts = records[["n_derived", "made"]].tolist()
            if status == Status.DONE:
                break
            which = self._tables[int(group["which"])]
            if status == Status.STACK_FULL:
                self._stack = np.concatenate([self._stack, np.empty_like(self._stack)])
            elif status == Status.SCRATCH_FULL:
                self._scratch = np.concatenate([self._scratch, np.empty_like(self._scratch)])
            elif status == Status.DERIVED_FULL:
                which.grow_derived()
            elif (conflict := which.index.resolve(status)) is not None:
                stopped = which, conflict
                break
        for table, (n_derived, made) in zip(self._tables, counts, strict=True):
            table.unit.by_foreign_keys += made
            if n_derived:
                table.unit.add_derived(self._derived_rows(table, table.derived[:n_derived]))
        for table, (_, made) in zip(self._tables, counts, strict=True):
            if made and table.definition.versioning is not None:
                first = changed[0][2].batch
                raise ReplayStopped("a foreign key changes rows of a system-versioned table, and the log does not say "
                                    "when", file=first.file.uri, position=int(first.positions[0]),
                                    table=table.definition.full_name, hint="leave it out with --ignore-tables")
        for _, table, taken in changed:
            conflict = stopped[1] if stopped is not None and stopped[0] is table else None
            table.finish_batch(taken, conflict)
        self._hand_over_steps(changed, order)

    def _hand_over_steps(self, changed: list[tuple[int, _Table, _Taken]], order: np.ndarray) -> None:
        """Hand over the effects of changes, in commit order, on rows of all tables."""
        causes = Causes(*(np.concatenate([getattr(taken.batch, name) for _, _, taken in changed])[order]
                          for name in ("positions", "rows", "seqs")))
        for table in self._tables:
            table.member.walk.hand_over_steps(None if table.taken is None else table.taken.batch, causes)

    def _describe(self, group: np.ndarray, counts: list[tuple[int, int]]) -> np.ndarray:
        """Fill in the group's record for the kernel. Returns the tables' records."""
        self._links = [self._link_records(table) for table in self._tables]
        starts = np.cumsum([0, *(len(table.tracked) for table in self._tables)])
        records = np.array([table.record(links, int(start), *kept) for table, links, start, kept
                            in zip(self._tables, self._links, starts, counts, strict=False)], k.TABLE)
        for field, value in (("tables", address_of(records)), ("stack", address_of(self._stack)),
                             ("stack_room", len(self._stack)), ("scratch", address_of(self._scratch)),
                             ("scratch_room", len(self._scratch))):
            group[field] = value
        return records

    def _link_records(self, table: _Table) -> np.ndarray:
        rows = [link.record(child, self._tables[child].index.index_by(Search(parts=link.child_key)))
                for link, child in table.links]
        return np.array(rows, k.LINK)

    # ---- values

    def _derived_rows(self, table: _Table, sources: np.ndarray) -> pa.Table:
        """Return rows of a table with the values of `sources` (int64[n, tracked]) in the tracked columns, and NULL in
        others."""
        schema = table_schema(table.definition)
        arrays = {column: self._values(sources[:, i], schema.field(table.definition.columns[column].name).type)
                  for i, column in enumerate(table.tracked)}
        known = {table.definition.columns[column].name: array for column, array in arrays.items()}
        return pa.Table.from_arrays([known.get(field.name, pa.nulls(len(sources), field.type)) for field in schema],
                                    schema=schema)

    def _values(self, sources: np.ndarray, kind: pa.DataType) -> pa.Array:
        """Return the values with these numbers as a column."""
        parts, picks, start = [pa.nulls(1, kind)], np.zeros(len(sources), np.int64), 1
        starts = np.cumsum([0, *(len(table.tracked) for table in self._tables)]).tolist()
        owners = {number: (taken, column) for table, start_of in zip(self._tables, starts, strict=False)
                  if (taken := table.taken) is not None for number, column in enumerate(table.tracked, start_of)}
        columns = np.where(sources < 0, -1, sources >> k.VALUE_SHIFT)
        for number in np.unique(columns[columns >= 0]).tolist():
            here = columns == number
            taken, column = owners[number]
            values = taken.reader.after_values(taken.batch, column).cast(kind)
            parts.append(values)
            picks[here] = start + (sources[here] & (1 << k.VALUE_SHIFT) - 1)
            start += len(values)
        return pa.concat_arrays(parts).take(pa.array(picks))
