"""The job: a part of an archive, summed up.

    archive → outline → splits, counted some at a time → totals → details of the largest transactions
"""

from __future__ import annotations

import os

from applier.binlog.archive.archive import open_archive
from applier.binlog.locating.group_choice import notes_on_threads
from applier.binlog.locating.sessions import session_of
from applier.engine import compiling
from applier.engine.executor import ThisProcess
from applier.engine.threads import map_on_threads
from applier.io.progress import Progress, Silent
from applier.jobs.replay.outlining import Outlining
from applier.jobs.summary.counting import Counted, CountTask, count_split
from applier.jobs.summary.figures import LargeTransaction, TableRows
from applier.jobs.summary.result import Summary
from applier.jobs.summary.statements import MOST_CHARACTERS, Statements
from applier.jobs.summary.totals import MOST_THREADS, Totals, by_rows, kinds
from applier.options import SummaryOptions
from applier.plan.span import LogSpan

_WHOLE, _AT_A_TIME = 1 << 62, 32
"""Bytes of a pass; splits whose counts are in memory at a time."""


def summarize(options: SummaryOptions, progress: Progress | None = None) -> Summary:
    """Sum up an archive. Raises the errors of a replay for its files; statements and tables stop nothing, but a column
    of unknown type."""
    progress, notes = progress or Silent(), list[str]()
    compiling.ensure("summary", progress)

    def note(text: str) -> None:
        notes.append(text)
        progress.note(text)

    cores = os.cpu_count() or 1
    start_time = -1.0 if options.start_datetime is None else options.start_datetime
    statements = Statements(options.filter, start_time, options.thread_ids)
    outlining = Outlining(ThisProcess(cores), options, statements.relevance, _WHOLE, progress, note)
    archive = open_archive(list(options.binlogs), with_gap=outlining.stop_condition().is_set)
    span = outlining.next_pass(archive, None).span
    for outline in span.files:
        statements.add(outline)
        for event in outline.unreplayable[:1]:
            note(f"{outline.name}:{event.position}: {event.what}; a replay stops here")
    totals = _totals(span, options, start_time, cores, progress)
    for name in sorted(totals.unsure):
        note(f"{name}: counted as if its times had no fractional digits, which only its definition says")
    if options.thread_ids:
        for text in notes_on_threads(options.thread_ids, totals.n_of_threads,
                                     totals.n_without_thread):
            note(text)
        if statements.changes():
            note("changes that are logged as statements are counted for all threads")
    if totals.forgot_threads:
        note(f"there are more than {MOST_THREADS:,} threads: of those with few rows, some are not counted in full")
    last, end = span.files[-1], span.end_position(None)
    times = [time for outline in span.files for time in (outline.first_timestamp, outline.last_timestamp)
             if time is not None]
    return Summary(
        files=tuple(outline.name for outline in span.files),
        bytes=sum(outline.end - outline.start for outline in span.files),
        position=f"{last.name}:{last.end}",
        gtids=end.gtid_set,
        server=last.format.server_version,
        first_time=min(times, default=None),
        last_time=max(times, default=None),
        groups=sum(outline.n_groups for outline in span.files),
        transactions=totals.transactions,
        rows=totals.rows,
        tables=totals.tables(),
        largest=tuple(map(_described, totals.largest)),
        seconds_each=totals.seconds_each,
        by_time=totals.by_time(),
        servers=totals.servers(),
        threads=totals.threads(),
        statements=tuple(statements.found),
        n_statements=statements.n_found,
        logged_as_statements=statements.changes(),
        notes=tuple(notes),
        end=end,
        first_group_id=next((outline.first_group_id for outline in span.files if outline.first_group_id is not None),
                            None),
        last_group_id=end.group_id,
    )


def _totals(span: LogSpan, options: SummaryOptions, start_time: float, cores: int, progress: Progress) -> Totals:
    """Return the counts of all splits."""
    tasks = [CountTask(outline.uri, split, tuple((start, end) for start, end in outline.rolled_back),
                       options.filter.wanted, start_time, options.thread_ids, options.top)
             for outline in span.files for split in outline.splits]
    totals = Totals(options.top)
    progress.phase("count", len(tasks), "splits")
    for first in range(0, len(tasks), _AT_A_TIME):
        for counts in map_on_threads(count_split, tasks[first : first + _AT_A_TIME], cores, lambda *_: None):
            totals.add(counts)
        progress.update(min(first + _AT_A_TIME, len(tasks)), totals.rows.rows)
    return totals


def _described(counted: Counted) -> LargeTransaction:
    group = counted.group
    statement = session_of(counted.uri, group.start, group.end).statement
    tables = by_rows(TableRows(*kinds(rows), table=name) for name, rows in counted.tables.items())
    return LargeTransaction(group.file, group.start, group.end, group.timestamp, group.gtid, counted.server_id, tables,
                            counted.rolled_back, counted.thread_id,
                            None if statement is None else statement[:MOST_CHARACTERS], group.group_id)
