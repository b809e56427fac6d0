"""A table's way through the log in one task: its units, how its columns are read, and the batches that come of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from applier.apply.search.change_keys import ChangeKeys, change_keys
from applier.apply.search.multiset_search import WholeImages
from applier.apply.search.row_keys import RowKeys
from applier.apply.search.row_pieces import RowPartEncoder
from applier.apply.spec import ImageMultiset, Keyed, NotSearched, RowSearch, Stored, UnitSpec
from applier.apply.tables.unit import UnitApplier
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT
from applier.binlog.rows.changes import UPDATE, ChangeBatch, ImageLayouts, TableBinding
from applier.binlog.rows.layout import ColumnPlan, plan_columns
from applier.columns.agreement import definition_check, is_compatible
from applier.columns.type_conversions import INTEGER_BITS, NONE_ALLOWED, TypeConversions
from applier.errors import COLUMN_CONVERSION, ReplayStopped
from applier.schema.definition import TableDefinition

if TYPE_CHECKING:
    from applier.apply.foreign_keys.parent_events import ParentEvents

BATCH_ROWS = 1 << 13


class LoggedTable:
    """How one version of a table is read from the log: the same for all its table maps, or the replay stops (1677)."""

    def __init__(self, definition: TableDefinition, search: RowSearch, allowed: TypeConversions = NONE_ALLOWED,
                 same_columns: bool = True):
        self._same_columns, self._search = same_columns, search
        self.definition, self._allowed = definition, allowed
        self.table_map: TableMap | None = None
        self.plans: list[ColumnPlan] = []
        self.keys: ChangeKeys | RowKeys | WholeImages | None = None
        self.layouts: ImageLayouts | None = None

    def bind_table_map(self, table_map: TableMap) -> bool:
        """Compare a table map with the definition (AP-POS); True if it is the first one."""
        if stopped := definition_check(table_map, self.definition, self._allowed,
                                       same_columns=self._same_columns):
            raise stopped
        plans = logged_columns(table_map, self.definition, self._allowed)
        if self.table_map is not None:
            if plans != self.plans:
                raise ReplayStopped("the log has two layouts of one table definition", table=self.definition.full_name,
                                    errno=COLUMN_CONVERSION, hint="give the definitions in force with --schema")
            return False
        self.table_map, self.plans, self.layouts = table_map, plans, ImageLayouts(plans)
        self.keys = self._reader(table_map)
        return True

    def _reader(self, table_map: TableMap) -> ChangeKeys | RowKeys | WholeImages:
        match self._search:
            case Keyed(key=key):
                return change_keys(key, self.definition, table_map)
            case Stored(by_content=by_content, also=also):
                pieces = RowPartEncoder(self.definition, by_content=by_content, also=also)
                return RowKeys(pieces, table_map, self.layouts)
            case ImageMultiset():
                pieces = RowPartEncoder(self.definition, by_content=True)
                return WholeImages(RowKeys(pieces, table_map, self.layouts))
            case NotSearched():
                raise ValueError("changes of a version that the log has none of")

    def drop_no_op_updates(self, batch: ChangeBatch) -> None:
        """Drop updates that assign columns only which the table does not have: a MySQL replica does not look for their
        rows, so that none is missing (seen on 9.7; MariaDB's does)."""
        columns = len(self.definition.columns)
        if self.definition.flavour == "mariadb" or len(self.table_map.types) <= columns:
            return
        nothing = np.array([*(min(layout.present, default=columns) >= columns for layout in self.layouts.known), False])
        if nothing.any():
            dropped = (batch.kinds == UPDATE) & nothing[batch.images >> IMAGE_ID_SHIFT]
            if dropped.any():
                batch.keep(~dropped)


def logged_columns(table_map: TableMap, definition: TableDefinition,
                   allowed: TypeConversions = NONE_ALLOWED) -> list[ColumnPlan]:
    """How each column of the log is read; the old temporal types have their digits only in the definition."""
    digits = [column.type.fsp for column in definition.columns[:len(table_map.types)]]
    plans = plan_columns(table_map, digits + [None] * (len(table_map.types) - len(digits)))
    for number, (plan, column) in enumerate(zip(plans, definition.columns, strict=False)):
        kind, wire_type = column.type, table_map.types[number]
        if (wire_type in INTEGER_BITS and not is_compatible(kind, wire_type, table_map.metadata[number])
                and allowed.reads_unsigned(kind, definition.flavour)):
            plans[number] = plan.as_unsigned()
    return plans


class TableWalk:
    """The units of one version of a table in one task. They all see every batch and take what is in their range.

    `sources` have the units whose rows come to these: all their changes come before this one's. `binding` is the one
    that the reader fills now, and `taker` who takes its batches.
    """

    def __init__(self, units: tuple[UnitSpec, ...], sources: Sequence[TableWalk] = ()):
        self.units = [UnitApplier(unit, [source.units[number] for source in sources])
                      for number, unit in enumerate(units)]
        self.logged = LoggedTable(units[0].definition, units[0].search, units[0].type_conversions,
                                  units[0].same_columns)
        self.binding: TableBinding | None = None
        self._events: ParentEvents | None = None
        self.taker: Callable[[ChangeBatch], None] = self.take

    def wait_for(self, events: ParentEvents) -> None:
        """Foreign keys change rows of the table as these events say."""
        self._events = events
        for unit in self.units:
            unit.wait_for(events)

    def start_file(self, file: int) -> None:
        """The batches from here on are of the file of this number."""
        if self._events is not None:
            self._events.file = file

    def bind_table_map(self, table_map: TableMap) -> None:
        """The table's next rows have these columns."""
        if self.logged.bind_table_map(table_map):
            for unit in self.units:
                unit.begin(table_map, self.logged.layouts)

    def bind(self, table_map: TableMap) -> TableBinding:
        """What is wanted of the table's row events: the key of both images, and pointers to the after-images."""
        self.bind_table_map(table_map)
        keys = self.logged.keys
        wanted = keys.wanted(self.logged.plans)
        after = wanted if self._events is None else self._events.wanted(self.logged.plans, wanted)
        binding = TableBinding(self.logged.plans, wanted, after, self.taker, BATCH_ROWS, keys.raw_diffs,
                               keys.before_images)
        binding.layouts = self.logged.layouts
        self.binding = binding
        return binding

    def take(self, batch: ChangeBatch) -> None:
        """Changes in commit order."""
        self.logged.drop_no_op_updates(batch)
        keys = self.logged.keys.of_batch(batch)
        if self._events is not None:
            self._events.take(batch, self.logged.table_map)
        for unit in self.units:
            unit.take(batch, keys, self.logged.keys)
