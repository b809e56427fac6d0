"""The outcome of units: the error that stopped them, the result of the witness, and the files with the remaining rows.

The rows of a unit pass to it from earlier versions, whose outcomes count with its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from applier.apply.output.unit_files import Written
from applier.apply.tables.unit import UnitApplier
from applier.apply.tasks import Applied, PlanAgain, Refused, TaskOutcome, UnitResult, outcome_of
from applier.apply.witnessed import STOP, Witnessed, together
from applier.binlog.rows.partial_updates import N_DIFFS

_ROWS = 4
"""The number of counts in `_counts` before those of diffs."""


def outcome(units: Sequence[UnitApplier], *refused: Refused) -> TaskOutcome:
    """Write these units, the last ones of their chains. If one of them or the walk itself (`refused`) had to stop, the
    remaining ones are not written, but checked: they may have to stop earlier in the log."""
    results: list[UnitResult] = []
    stopped: list[Refused] = []
    has_stopped = bool(refused) or any(stops(unit) for unit in units)
    for unit in units:
        if has_stopped:
            check(unit)
            stopped.append(Refused(errors=(), witnessed=testimony(unit)))
        else:
            results.append(finish(unit))
            has_stopped = bool(stops(unit))
    return outcome_of([Applied(results=tuple(results)), *stopped, *(stop for unit in units for stop in stops(unit)),
                       *refused])


def stops(unit: UnitApplier) -> tuple[Refused | PlanAgain, ...]:
    """Return the stops of a unit, in this version or earlier ones, in no particular order: refused changes, JSON diffs
    that do not fit (3648, …), and, if the witness stops, differences."""
    found: list[Refused | PlanAgain] = []
    for link in unit.links():
        if link.stop is not None:
            found.append(link.stop)
        if link.failed_diff is not None:
            found.append(Refused(errors=(link.failed_diff,)))
        if link.spec.witness == STOP and (differences := link.witnessed.differences):
            found.append(Refused(errors=tuple(difference.error() for difference in differences)))
    return tuple(found)


def testimony(unit: UnitApplier) -> Witnessed:
    """Return the witness results of this version and earlier ones. Each counts once, although a version's rows may pass
    to several units."""
    chain = [link for link in unit.links() if not link.has_testified]
    for link in chain:
        link.has_testified = True
    return together(link.witnessed for link in chain)


def check(unit: UnitApplier) -> None:
    """Look for stops that may precede a unit's stop in the log: JSON diffs that do not fit, and statements whose
    effects on the rows are unknown."""
    if unit.sources and unit.search is None and not unit.is_stopped and unit.spec.target is not None:
        with unit.refusing():
            for _ in unit.rows():
                pass
    for link in unit.links():
        link.check_diffs()


def finish(unit: UnitApplier) -> UnitResult:
    """Write the remaining rows in key order, or, without a key, in the order of arrival; write nothing if the unit's
    range has no change. The result is invalid if there are `stops` afterwards."""
    unit.end()
    written, in_order = Written(None), True
    with unit.timed(), unit.refusing():
        unit.compare_images()
        if (target := unit.spec.target) is None or unit.is_stopped:
            check(unit)
        elif unit.is_changed:
            in_order = unit.spec.key is not None or unit.arrivals.in_order
            written = unit.write(target)
            in_order = in_order and (unit.spec.key is not None or not unit.has_lost_order)
    chain = unit.links()
    conflicts = [part for link in chain for part in link.conflicts]
    found = sum((link.search.found for link in chain if link.search is not None), Counter[str]())
    inserted, updated, deleted, zero_dates, partial_updates, documents, bytes_saved = _counts(unit)
    return UnitResult(unit.spec.number, inserted, updated, deleted, zero_dates, written.files,
                      pa.concat_tables(conflicts) if conflicts else None, dict(found),
                      sum(link.seconds for link in chain), written.history,
                      sum(link.by_foreign_keys for link in chain), unit.next_number, written.zero_dates,
                      testimony(unit), partial_updates, documents, bytes_saved, unit.merged, in_order,
                      bool(unit.misplaced))


def _counts(last: UnitApplier) -> tuple[int, ...]:
    """Return the numbers of rows inserted, updated and deleted, of zero dates, and the counts of PartialUpdates, in
    this version and earlier ones. Changes to a table whose partition was exchanged count there."""
    counts, counted = np.zeros(_ROWS + N_DIFFS, np.int64), set[int]()
    pending = [last]
    while pending:
        unit = pending.pop()
        if id(unit) in counted:
            continue
        counted.add(id(unit))
        pending += [before for number, (source, before) in enumerate(zip(unit.spec.sources, unit.sources)) if not (
            number == 0 and (removed := source.conversion.removed) is not None and not removed.inside)]
        if unit.search is not None:
            index = unit.search.index
            counts += (index.inserted, index.updated, index.deleted, unit.zero_dates, *index.diffs.counts)
    return tuple(counts.tolist())
