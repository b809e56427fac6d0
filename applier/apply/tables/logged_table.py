"""How one version of a table is read from the log."""

from __future__ import annotations

import dataclasses

import numpy as np

from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import UPDATE, ChangeBatch, ImageLayouts
from applier.binlog.rows.image_pointers import layouts_of
from applier.binlog.rows.layout import ColumnPlan, plan_columns
from applier.columns.agreement import definition_check, is_compatible
from applier.columns.type_conversions import INTEGER_BITS, NONE_ALLOWED, TypeConversions
from applier.errors import COLUMN_CONVERSION, ReplayStopped
from applier.schema.definition import TableDefinition


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class TableReading:
    """A version of a table as a table map describes it: how each column of the log is read, and the layouts of images.
    """

    definition: TableDefinition
    table_map: TableMap
    plans: list[ColumnPlan]
    layouts: ImageLayouts

    def drop_no_op_updates(self, batch: ChangeBatch) -> None:
        """Drop updates that assign only columns that the table does not have: a MySQL replica does not search their
        rows, so they cannot be missing (seen on 9.7). MariaDB's replica does."""
        columns = len(self.definition.columns)
        if self.definition.flavour == "mariadb" or len(self.table_map.types) <= columns:
            return
        nothing = np.array([*(min(layout.present, default=columns) >= columns for layout in self.layouts.known), False])
        if nothing.any():
            dropped = (batch.kinds == UPDATE) & nothing[layouts_of(batch.images)]
            if dropped.any():
                batch.keep(~dropped)


class LoggedTable:
    """A version of a table in the log. All its table maps must describe the same layout, or else the replay stops
    (1677)."""

    def __init__(self, definition: TableDefinition, allowed: TypeConversions = NONE_ALLOWED,
                 same_columns: bool = True):
        self.definition, self._allowed, self._same_columns = definition, allowed, same_columns
        self._reading: TableReading | None = None

    @property
    def _takes_generated(self) -> bool:
        """True if a generated column takes the value in an image: it is the source's column. In a definition that the
        user gave, it may be a different column, which a MySQL replica computes whatever the image has."""
        return self._same_columns or self.definition.flavour == "mariadb"

    def bind_table_map(self, table_map: TableMap) -> TableReading:
        """Return how rows are read after a table map, which is compared with the definition (AP-POS)."""
        if stopped := definition_check(table_map, self.definition, self._allowed, same_columns=self._same_columns):
            raise stopped
        plans = logged_columns(table_map, self.definition, self._allowed)
        if self._reading is None:
            self._reading = TableReading(definition=self.definition, table_map=table_map, plans=plans,
                                         layouts=ImageLayouts(plans, takes_generated=self._takes_generated))
        elif plans != self._reading.plans:
            raise ReplayStopped("the log has two layouts of one table definition", table=self.definition.full_name,
                                errno=COLUMN_CONVERSION, hint="give the definitions in force with --schema")
        return self._reading


def logged_columns(table_map: TableMap, definition: TableDefinition,
                   allowed: TypeConversions = NONE_ALLOWED) -> list[ColumnPlan]:
    """Return how each column of the log is read. The digits of the old temporal types are only in the definition."""
    digits = [column.type.fsp for column in definition.columns[:len(table_map.types)]]
    plans = plan_columns(table_map, digits + [None] * (len(table_map.types) - len(digits)))
    for number, (plan, column) in enumerate(zip(plans, definition.columns, strict=False)):
        kind, wire_type = column.type, table_map.types[number]
        if (wire_type in INTEGER_BITS and not is_compatible(kind, wire_type, table_map.metadata[number])
                and allowed.reads_unsigned(kind, definition.flavour)):
            plans[number] = plan.as_unsigned()
    return plans
