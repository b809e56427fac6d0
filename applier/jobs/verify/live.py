"""The job: compare a snapshot with a server while it is written to.

The server's tables are read in one consistent state, at one position. The snapshot is replayed to exactly that
position. Then sums are compared; if those of a range differ, its rows are, and the server's values of differing rows
are fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from applier.binlog.events.gtid import GtidSet
from applier.errors import UsageError
from applier.io.progress import Progress
from applier.jobs.server.session import Row, whole_number
from applier.jobs.verify import statements
from applier.jobs.verify.answers import Answers, range_sums
from applier.jobs.verify.comparing import compare
from applier.jobs.verify.plan import ComparedTable, Hash, plan
from applier.jobs.verify.result import DifferentRow, DifferentTable, ServerComparison
from applier.jobs.verify.row_differences import row_differences
from applier.jobs.verify.rows import different_rows
from applier.jobs.verify.server import Server, ServerPosition, ServerRows
from applier.jobs.verify.sums import RangeSums, TableSums, sums_of
from applier.schema.table_filter import TableFilter
from applier.snapshot.manifest import BinlogPosition, Snapshot

ATTEMPTS, SECONDS_BETWEEN = 10, 1.0
"""How often, and at which interval, a growing archive is read again until it reaches the server's position."""
Leading = Callable[[Snapshot, ServerPosition], Snapshot]


def compare_live(snapshot: Snapshot, server: Server, lead: Leading | None, filter: TableFilter, hash: Hash, rows: int,
                 progress: Progress, *, for_repair: bool = False) -> ServerComparison:
    """Compare a snapshot with a server; `lead` makes one at a later position of it. At most `rows` rows of each
    differing table are shown; with `for_repair`, the values of all differing rows are fetched. Raises UsageError if the
    two cannot be at one position, or the server cannot be queried."""
    if snapshot.position.flavour not in (server.flavour, "unknown"):
        raise UsageError(f"the snapshot is of {snapshot.position.flavour}, the server is of {server.flavour}",
                         file=snapshot.uri, hint="compare a snapshot with a server of its own kind")
    position = server.begin()
    snapshot = _at(position, snapshot, lead)
    chosen = plan(snapshot, filter, hash)
    answers = Answers(str(position), ended=True)
    progress.phase("ask the server", sum(table.ranges for table in chosen.tables), "ranges")
    for table, statement in statements.table_sums(chosen):
        answers.sums |= server.rows(statement, _BEFORE_SUMS + 2 + len(table.columns), partial(_sums, table))
        progress.update(len(answers.sums))
    sums = sums_of(chosen, progress)
    found = compare(chosen, sums, answers)
    there = ServerRows(chosen, server)
    different = tuple(_with_rows(sums[table.full_name], table, there, rows) for table in found.different)
    return replace(found, different=different,
                   differences=row_differences(found, sums, there) if for_repair else None)


def _at(position: ServerPosition, snapshot: Snapshot, lead: Leading | None) -> Snapshot:
    """Return the snapshot at the server's position."""
    if is_at(snapshot.position, position):
        return snapshot
    if ahead := _ahead(snapshot.position, position):
        raise UsageError(f"the snapshot is ahead of the server, which does not have {ahead}", file=snapshot.uri,
                         hint="compare with the server that the log is of, or wait until the replica has caught up")
    if lead is None:
        raise UsageError(f"the server stands at {position}, the snapshot at "
                         f"{snapshot.position.gtid_set or snapshot.position}", file=snapshot.uri,
                         hint="--binlogs brings the snapshot to the server's position if the archive has these "
                              "transactions; `applier verify --sql` and --against compare it at its own position")
    return lead(snapshot, position)


def is_at(position: BinlogPosition, server: ServerPosition) -> bool:
    """Return whether a snapshot stands where the server does."""
    if position.gtid_set and server.gtid_set:
        return GtidSet.parse(position.gtid_set) == GtidSet.parse(server.gtid_set)
    return bool(position.file) and (position.file, position.offset) == (server.file, server.offset)


def _ahead(position: BinlogPosition, server: ServerPosition) -> str:
    """Return the transactions that the snapshot has and the server does not have, as text. If a MariaDB domain is at
    groups of two servers, only the log tells which came first."""
    if position.gtid_set and server.gtid_set:
        held, known = GtidSet.parse(position.gtid_set), GtidSet.parse(server.gtid_set)
        missing = held.subtract(known)
        return str(GtidSet.from_intervals(missing.intervals, {
            domain: (source, number) for domain, (source, number) in missing.domains.items()
            if known.domains.get(domain, (source, 0))[0] == source}))
    if (position.file, position.offset) > (server.file, server.offset):
        return f"what is between {server.file}:{server.offset} and {position}"
    return ""


def _with_rows(sums: TableSums, table: DifferentTable, there: ServerRows, most: int) -> DifferentTable:
    """Return the table with the first rows that differ, and what the server has of them."""
    found = list(islice(_rows(sums, table, there), most))
    for number in sorted({row.range for row in found}):
        wanted = [row for row in found if row.range == number and row.kind != "here"]
        held = dict(there.values(table.table, number, [row.key for row in wanted]))
        found = [replace(row, there=held.get(row.key)) if row in wanted else row for row in found]
    return replace(table, rows=tuple(found))


def _rows(sums: TableSums, table: DifferentTable, there: ServerRows) -> Iterator[DifferentRow]:
    for part in table.ranges:
        yield from different_rows(there.plan.snapshot.root, sums, part.number, there.hashes(table.table, part.number))


def _sums(table: ComparedTable, rows: Sequence[Row]) -> dict[tuple[str, int], RangeSums]:
    """Return the sums of a table's ranges. Raises ValueError and TypeError for rows that are none."""
    found = {}
    for _, _, _, part, *sums in rows:
        key = table.full_name, range(table.ranges).index(whole_number(part))
        found[key] = range_sums(table, [None if value is None else whole_number(value) for value in sums])
    return found


_BEFORE_SUMS = 4
"""Columns of a range's sums before the number of rows."""
