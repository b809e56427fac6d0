"""The outcome of units: the error that stopped them, the result of the witness, and the files with the remaining rows.

The rows of a unit pass down to it from earlier versions, whose part of the outcome counts with its own.
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
"""Numbers that come before those of diffs in `_counts`."""


def outcome(units: Sequence[UnitApplier], *refused: Refused) -> TaskOutcome:
    """Write these units, the last ones of their chains, unless one of them or the walk itself (`refused`) had to stop;
    then the others may have had to before."""
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
    """Return the stops of a unit, in this version or those before, in no order."""
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
    """Return the witness results of this version and earlier ones, each counted once: its rows may pass down to several
    units."""
    chain = [link for link in unit.links() if not link.has_testified]
    for link in chain:
        link.has_testified = True
    return together(link.witnessed for link in chain)


def check(unit: UnitApplier) -> None:
    """Check everything before a unit's stop: that JSON diffs fit, and that the effects of statements on the rows are
    known."""
    if unit.sources and unit.search is None and not unit.is_stopped and unit.spec.target is not None:
        with unit.refusing():
            for _ in unit.rows():
                pass
    for link in unit.links():
        link.check_diffs()


def finish(unit: UnitApplier) -> UnitResult:
    """Write the rows that are left, in key order, those of a table without a key as they came; nothing where no change
    came into the unit's range. The result does not count where there are `stops` afterwards."""
    unit.end()
    written, in_order = Written(None), True
    with unit.timed(), unit.refusing():
        unit.compare_images()
        if (target := unit.spec.target) is None or unit.is_stopped:
            check(unit)
        elif unit.is_changed:
            in_order = unit.spec.key is not None or unit.arrivals.in_order
            written = unit.write(target)
    chain = unit.links()
    conflicts = [part for link in chain for part in link.conflicts]
    found = sum((link.search.found for link in chain if link.search is not None), Counter[str]())
    inserted, updated, deleted, zero_dates, partial_updates, documents, bytes_saved = _counts(unit)
    return UnitResult(unit.spec.number, inserted, updated, deleted, zero_dates, written.files,
                      pa.concat_tables(conflicts) if conflicts else None, dict(found),
                      sum(link.seconds for link in chain), written.history,
                      sum(link.by_foreign_keys for link in chain), unit.next_number, written.zero_dates,
                      testimony(unit), partial_updates, documents, bytes_saved, unit.merged, in_order)


def _counts(last: UnitApplier) -> tuple[int, ...]:
    """Return rows inserted, updated and deleted, zero dates, and the counts of PartialUpdates, in this version and
    those before. Changes to a table whose partition was exchanged count there."""
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
