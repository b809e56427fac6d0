"""Makes the report's part about before-images of what units witnessed, with the transactions of first differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import pyarrow as pa

from applier.apply.tasks import UnitResult
from applier.apply.witnessed import together
from applier.binlog.outline.outline import Outline
from applier.plan.conflicts import placed
from applier.plan.witness import WitnessDifference, WitnessResult, first_by_column


def witness_result(results: Sequence[UnitResult], outlines: Sequence[Outline]) -> WitnessResult:
    """What all units witnessed; `outlines` are in the order of the log."""
    found = together(result.witnessed for result in results)
    differences: tuple[WitnessDifference, ...] = ()
    if found.differences:
        rows = pa.Table.from_pylist([asdict(difference) for difference in found.differences])
        rows = rows.set_column(rows.schema.get_field_index("row"), "row", rows.column("row").cast(pa.int32()))
        differences = tuple(WitnessDifference(**row) for row in placed(rows, outlines).drop(["number"]).to_pylist())
    return WitnessResult(found.compared, found.agreed, first_by_column(differences))
