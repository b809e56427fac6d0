"""A version of a table in a plan."""

from __future__ import annotations

import dataclasses

from applier.apply.spec import UnitSpec
from applier.plan.used_tables import UsedTable
from applier.schema.history.table_versions import TableVersion


@dataclasses.dataclass
class PlannedVersion:
    """A version of a table that the log changes, or whose rows continue to one: its uses in the log, and its units.

    `succeeded`: another version has its rows, and its units are links in the chains of that one's. `in_snapshot`: the
    snapshot has the version's rows, perhaps under a later version. `ranges` is how many units its table's size asked
    for, `single_unit_reason` why all keys are one unit nevertheless ("" if they are not). Versions of one `group`
    exchanged rows (applier.plan.exchanged).
    """

    version: TableVersion
    uses: list[UsedTable]
    units: list[UnitSpec]
    succeeded: bool = False
    in_snapshot: bool = True
    ranges: int = 1
    single_unit_reason: str = ""
    group: int | None = None

    @property
    def bytes(self) -> int:
        """Bytes of its rows events. Versions that share a table map are assumed to share its bytes evenly."""
        return sum(-(-used.use.n_bytes // len(used.versions)) for used in self.uses)

    @property
    def bytes_a_unit(self) -> float:
        return self.bytes / max(1, len(self.units))
