"""A table's way through the log in one task: its units, how its columns are read, and the batches that come of it."""

from __future__ import annotations

from applier.apply.change_keys import ChangeKeys, change_keys
from applier.apply.table_key import table_key
from applier.apply.unit import UnitApplier
from applier.apply.work import UnitSpec
from applier.binlog.changes import ChangeBatch, ImageLayouts, TableBinding
from applier.binlog.layout import ColumnPlan, plan_columns
from applier.binlog.table_map import TableMap
from applier.errors import COLUMN_CONVERSION, ReplayStopped
from applier.schema.agreement import definition_check
from applier.schema.definition import TableDefinition

BATCH_ROWS = 1 << 13


class LoggedTable:
    """How one version of a table is read from the log: the same for all its table maps, or the replay stops (1677)."""

    def __init__(self, definition: TableDefinition):
        self.definition, self.key = definition, table_key(definition)
        self.table_map: TableMap | None = None
        self.plans: list[ColumnPlan] = []
        self.keys: ChangeKeys | None = None
        self.layouts: ImageLayouts | None = None

    def meet(self, table_map: TableMap) -> bool:
        """Compare a table map with the definition (AP-POS); True if it is the first one."""
        if stopped := definition_check(table_map, self.definition):
            raise stopped
        plans = logged_columns(table_map, self.definition)
        if self.table_map is not None:
            if plans != self.plans:
                raise ReplayStopped("the log has two layouts of one table definition", table=self.definition.full_name,
                                    errno=COLUMN_CONVERSION, hint="give the definitions in force with --schema")
            return False
        self.table_map, self.plans, self.layouts = table_map, plans, ImageLayouts(plans)
        self.keys = change_keys(self.key, self.definition, table_map)
        return True


def logged_columns(table_map: TableMap, definition: TableDefinition) -> list[ColumnPlan]:
    """How each column of the log is read; the old temporal types have their digits only in the definition."""
    return plan_columns(table_map, [column.type.fsp for column in definition.columns])


class TableWalk:
    """The units of one version of a table in one task. They all see every batch and take what is in their range."""

    def __init__(self, units: tuple[UnitSpec, ...]):
        self.units = [UnitApplier(unit) for unit in units]
        self.logged = LoggedTable(units[0].definition)

    def meet(self, table_map: TableMap) -> None:
        """The table's next rows have these columns."""
        if self.logged.meet(table_map):
            for unit in self.units:
                unit.begin(table_map, self.logged.layouts)

    def bind(self, table_map: TableMap) -> TableBinding:
        """What is wanted of the table's row events: the key of both images, and pointers to the after-images."""
        self.meet(table_map)
        wanted = self.logged.keys.wanted(self.logged.plans)
        binding = TableBinding(self.logged.plans, wanted, wanted, self.take, BATCH_ROWS)
        binding.layouts = self.logged.layouts
        return binding

    def take(self, batch: ChangeBatch) -> None:
        """Changes in commit order."""
        keys = self.logged.keys.of_batch(batch)
        for unit in self.units:
            unit.take(batch, keys, self.logged.keys)
