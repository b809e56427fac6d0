"""The job: compare a snapshot with a server's answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from applier.errors import UsageError
from applier.io.progress import Progress, Silent
from applier.io.resolver import read_text
from applier.jobs.verify.answers import Answers, RowHashes, parse
from applier.jobs.verify.plan import ComparedTable, ComparisonPlan
from applier.jobs.verify.result import DifferentRange, DifferentRow, DifferentTable, ServerComparison
from applier.jobs.verify.rows import different_rows
from applier.jobs.verify.sums import RangeSums, TableSums, sums_of

_NOTHING = RangeSums(0, 0, ())


def compare_with_answers(plan: ComparisonPlan, sources: Sequence[str], rows: int = 20,
                         progress: Progress | None = None) -> ServerComparison:
    """Compare a snapshot with a client's output: in files, or on stdin ("-"), sums in one and rows of ranges, as far as
    these were requested, in another. At most `rows` rows of each differing table are named. Raises UsageError for a
    file that is not an answer, or incomplete, SnapshotError for a file of the snapshot that is missing or damaged."""
    answers = Answers()
    for source in sources:
        read = parse(plan, _text(source), source)
        answers.position, answers.ended = read.position or answers.position, read.ended or answers.ended
        answers.sums |= read.sums
        answers.rows |= read.rows
    if not answers.ended:
        raise UsageError("the server's answer is truncated", file=sources[0],
                         hint="read the client's messages: it stops at the first error, such as a missing table "
                              "(`--force` makes it continue; --tables selects tables)")
    sums = sums_of(plan, progress or Silent())
    found = compare(plan, sums, answers)
    return found.with_tables(tuple(
        replace(table, rows=tuple(islice(_known_rows(plan, sums[table.full_name], table, answers), rows)))
        for table in found.different))


def compare(plan: ComparisonPlan, sums: dict[str, TableSums], answers: Answers) -> ServerComparison:
    """Compare sums."""
    different = tuple(filter(None, (_different(table, sums[table.full_name], answers) for table in plan.tables)))
    snapshot = plan.snapshot
    return ServerComparison(len(plan.tables), sum(table.entry.rows for table in plan.tables),
                            sum(table.ranges for table in plan.tables),
                            snapshot.position.gtid_set.replace("\n", "") or str(snapshot.position), answers.position,
                            different, plan)


def _different(table: ComparedTable, here: TableSums, answers: Answers) -> DifferentTable | None:
    """Return the differences of a table; None if there are none."""
    there = {number: answers.sums.get((table.full_name, number)) for number in range(table.ranges)}
    if table.buckets < 2 and not any(there.values()):
        return DifferentTable(table, (), answered=False)
    found = [_range(table, number, here[number], sums or _NOTHING) for number, sums in there.items()
             if here[number] != sums and (here[number].rows or sums is not None)]
    return DifferentTable(table, tuple(found)) if found else None


def _range(table: ComparedTable, number: int, here: RangeSums, there: RangeSums) -> DifferentRange:
    columns = there.columns or (0,) * len(here.columns)
    names = tuple(column.name for column, ours, theirs in zip(table.columns, here.columns, columns, strict=True)
                  if ours != theirs)
    return DifferentRange(number, table.condition(number), here.rows, there.rows, names)


def _known_rows(plan: ComparisonPlan, sums: TableSums, table: DifferentTable, answers: Answers
                ) -> Iterator[DifferentRow]:
    """Yield rows of those ranges whose rows were requested, and of those that have none there."""
    for part in table.ranges:
        none = RowHashes.none(table.table) if not part.rows_there else None
        asked = answers.rows.get((table.full_name, part.number), none)
        if asked is not None:
            yield from different_rows(plan.snapshot.root, sums, part.number, asked)


def _text(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read()
    return read_text(source).encode()
