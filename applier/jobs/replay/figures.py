"""The figures of a replay, for monitoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from applier.io.resolver import join
from applier.jobs.replay.result import ReplayResult
from applier.jobs.telemetry.figures import Figure, Outcome, Output


def outcome(results: Sequence[ReplayResult], output: str) -> Outcome:
    """Return what a replay did, given the result for each snapshot; `output` is the snapshot or lake."""
    last = results[-1]
    written = [Output(join(output, f"{table.database}/{table.name}"), "", table.changes, table.bytes_written,
                      table.files_written) for table in last.tables if table.files_written]
    return Outcome(tuple(_figures(results)), {"results": [result.report() for result in results]}, tuple(written), (),
                   last.position, last.gtid_set, last.timestamp)


def _figures(results: Sequence[ReplayResult]) -> Iterator[Figure]:
    last, tables = results[-1], [table for result in results for table in result.tables]
    yield Figure("changes", "gauge", "row changes that were applied", sum(result.changes for result in results))
    yield Figure("rows", "gauge", "rows of all tables", sum(table.rows for table in last.tables))
    yield Figure("tables", "gauge", "tables", len(last.tables))
    yield Figure("written_bytes", "gauge", "size of the files that were written",
                 sum(table.bytes_written for table in tables))
    yield Figure("written_files", "gauge", "files that were written", sum(table.files_written for table in tables))
    yield Figure("conflicts", "gauge", "conflicts that were suppressed", sum(result.conflicts for result in results))
    yield Figure("zero_dates", "gauge", "invalid dates that became NULL", sum(result.zero_dates for result in results))
    for phase in dict.fromkeys(name for result in results for name in result.seconds):
        yield Figure("phase_duration_seconds", "gauge", "duration of a phase",
                     sum(result.seconds.get(phase, 0.0) for result in results), {"phase": phase})
    for table in last.tables:
        labels = {"table": table.full_name}
        yield Figure("table_rows", "gauge", "rows of a table", table.rows, labels)
        yield Figure("table_written_bytes", "gauge", "size of a table's files that were written", table.bytes_written,
                     labels)
        for change, count in (("insert", table.inserts), ("update", table.updates), ("delete", table.deletes)):
            yield Figure("table_changes", "gauge", "row changes of a table", count, labels | {"change": change})
