"""Print what verbs have written: archives, files of changes, publications, rounds of a lake."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from applier.cli.loudness import Loudness, chosen
from applier.cli.output.grids import Grid
from applier.cli.output.results import Result
from applier.cli.terminal import ResultConsole, print_error
from applier.jobs.summary.words import counted

if TYPE_CHECKING:
    from applier.binlog.locating.search import Indexed
    from applier.jobs.archive.result import Archived
    from applier.jobs.change_files.job import Written
    from applier.jobs.changes.follow.following import Batch
    from applier.jobs.exporting.task import Exported
    from applier.jobs.history.listing import HistoryFiles
    from applier.jobs.publish.result import Published
    from applier.jobs.rewrite.result import Rewritten
    from applier.jobs.sync.round import Round


def _print_archived(console: ResultConsole, done: Archived) -> None:
    end = f" up to {done.file}:{done.offset}" if done.file else " the source has nothing"
    console.say(f"{done.output}: {counted(done.files, 'file')} written to, {done.complete:,} complete, "
                f"{done.events:,} events, {done.bytes:,} bytes;{end}", soft_wrap=True)


ARCHIVED = Result(_print_archived)


def _print_indexed(console: ResultConsole, done: Indexed) -> None:
    console.say(f"{done.uri} describes {done.n_files:,} files in {done.size:,} bytes; {done.n_read:,} were read",
                soft_wrap=True)


INDEXED = Result(_print_indexed)


def _print_rewritten(console: ResultConsole, done: Rewritten) -> None:
    console.say((done.output, "bold"), f": {counted(len(done.files), 'file')}, {done.groups:,} event groups, "
                f"{done.bytes_before:,} bytes become {done.bytes_after:,} ({done.ratio:.0%})", soft_wrap=True)
    if done.emptied or done.dropped:
        console.say(f"filtered: {done.emptied:,} transactions have no changes left; {done.dropped:,} rows "
                    "events are dropped", soft_wrap=True)
    console.say(str(done.proof), soft_wrap=True)


REWRITTEN = Result(_print_rewritten)


def _print_changes(console: ResultConsole, output: str, written: Written) -> None:
    console.say(f"{output}: {sum(written.rows.values()):,} changes of {len(written.rows):,} tables", soft_wrap=True)


CHANGES_WRITTEN = Result(_print_changes)


def _print_batch(console: ResultConsole, batch: Batch, written: Written) -> None:
    console.say(f"batch {batch.number} up to {batch.position}: {counted(sum(written.rows.values()), 'change')} of "
                f"{counted(len(written.rows), 'table')}", soft_wrap=True)


BATCH_WRITTEN = Result(_print_batch)
"""A batch of --follow."""


def _print_versions(console: ResultConsole, output: str, written: HistoryFiles) -> None:
    console.say(f"{output}: {written.rows:,} versions until {written.position}", soft_wrap=True)


VERSIONS_WRITTEN = Result(_print_versions)


def _print_exported(console: ResultConsole, output: str, files: Sequence[Exported]) -> None:
    """Print how much was exported, and how to load it."""
    size = sum(file.bytes for file in files)
    console.say(f"{sum(file.rows for file in files):,} rows in {len(files):,} files, {size / 1e6:,.1f} MB")
    console.say("to load it: ", (f"sh {shlex.quote(f'{output}/_load.sh')} -h HOST -u USER -p", "bold"))


EXPORTED = Result(_print_exported)


def _print_publication(console: ResultConsole, published: Published) -> None:
    """Print what changed in each table, and whether all tables changed at once."""
    grid = Grid("table", "", "files", "files new", "MB new", "files gone", less=("files gone",))
    for table in published.tables:
        known = f", was {table.renamed_from}" if table.renamed_from else ""
        columns = ", its columns too" if table.columns_changed else ""
        grid.add(table.name, table.change + known + columns, table.files, table.files_added,
                 table.bytes_added / 1e6, table.files_removed)
    grid.print(console)
    how = "all tables at once" if published.together else "tables made, dropped or renamed first, then all rows at " \
        "once" if published.rows_together else "one table after the other"
    console.say(f"{published.catalog} stands at {published.position}, {how}{_expired(published)}, "
                f"{published.seconds:.1f} s")


def _expired(published: Published) -> str:
    gone = sum(table.snapshots_expired for table in published.tables)
    return f", {counted(gone, 'snapshot')} expired" if gone else ""


PUBLICATION = Result(_print_publication)


def _print_round(console: ResultConsole, done: Round) -> None:
    """Print a line, and with -v each note before it; a failed round is an error on stderr."""
    if done.error is not None:
        print_error(done.error)
        return
    parts = [counted(done.changes, "change"), f"{counted(done.files_written, 'file')} written",
             f"{done.files_kept:,} kept"] if done.is_new else ["nothing new"]
    parts += [f"published in {published.catalog}{_expired(published)}" for published in done.published]
    parts += [f"{counted(done.expired, 'version')} expired"] if done.expired else []
    parts += [f"{done.seconds:.1f} s"] + ([] if done.lag is None else [f"lag {done.lag:.1f} s"])
    for note in done.notes if chosen() >= Loudness.VERBOSE else ():
        console.say(f"{_now()} {note}", soft_wrap=True)
    console.say(f"{_now()} version {done.version} at {done.position}: {', '.join(parts)}", soft_wrap=True)


ROUND = Result(_print_round, lambda done: {"at": _now()} | done.document())
"""A round of `sync`: one line, or one JSON document with its time."""


def _now() -> str:
    """Return the local time for a log line."""
    return datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
