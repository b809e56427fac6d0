"""Makes the report's part about before-images from the units' results, with the transactions of first differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import pyarrow as pa

from applier.apply.witnessed import Difference, Witnessed
from applier.binlog.outline.outline import Outline
from applier.errors import ApplierError
from applier.plan.conflicts import with_positions
from applier.plan.witness import WitnessDifference, WitnessResult, first_by_column


def witness_result(found: Witnessed, outlines: Sequence[Outline]) -> WitnessResult:
    """Return the results of units; `outlines` are in log order."""
    differences: tuple[WitnessDifference, ...] = ()
    if found.differences:
        rows = pa.Table.from_pylist([asdict(difference) for difference in found.differences])
        rows = rows.set_column(rows.schema.get_field_index("row"), "row", rows.column("row").cast(pa.int32()))
        differences = tuple(WitnessDifference(**row)
                            for row in with_positions(rows, outlines).drop(["number"]).to_pylist())
    return WitnessResult(found.compared, found.agreed, first_by_column(differences), found.computed,
                         found.computed_agreed)


def with_differences(error: ApplierError, found: Witnessed, earlier: WitnessResult,
                     outlines: Sequence[Outline]) -> ApplierError:
    """The error of a refused change with a line for each difference that was found before it, in an `earlier` pass or
    by the units of this one: it may be why the change was refused."""
    order = {outline.uri: number for number, outline in enumerate(outlines)}

    def position(part: ApplierError | Difference) -> tuple[int, int, int]:
        return order[part.file or ""], part.position or 0, part.row or 0

    before = tuple(difference for difference in found.differences if position(difference) < position(error))
    differences = earlier.and_then(witness_result(replace(found, differences=before), outlines)).differences
    error.listed += tuple(f"before that, {difference}" for difference in differences)
    return error
