"""Print a summary of a log: tables with bars, or JSON; or write it as an HTML page."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from rich.text import Text

from applier.cli.output.grids import Grid, bar
from applier.cli.output.results import Result
from applier.cli.terminal import ResultConsole, words
from applier.io.disk.new_files import new_output
from applier.jobs.summary.result import Summary
from applier.jobs.summary.words import counted, diff_text, label, length, short, span, when

_STEPS, _TABLES, _STATEMENTS, _CHARACTERS = 30, 25, 20, 100
"""Lines on the terminal for the parts of a summary; characters of a statement beside a transaction."""


def write_page(summary: Summary, path: str) -> None:
    """Write the summary as a page. Raises ApplierError and OSError as `new_output` does."""
    page = summary.to_html()
    with new_output(path, replaces=True) as partial:
        Path(partial).write_text(page, encoding="utf-8")


def _print(console: ResultConsole, summary: Summary) -> None:
    rows = summary.rows
    console.say((span(summary.files), "bold"), f": {summary.bytes:,} bytes up to {summary.position}, "
                f"{when(summary.first_time)} to {when(summary.last_time)}")
    console.say((counted(rows.rows, "row change"), "bold"),
                f" in {counted(summary.transactions, 'transaction')}: {counted(rows.inserts, 'insert')}, "
                f"{counted(rows.updates, 'update')}, {counted(rows.deletes, 'delete')}")
    for part in (_partial_updates, _largest, _tables, _times, _statements, _logged_as_statements, _servers, _threads):
        part(console, summary)


def _partial_updates(console: ResultConsole, summary: Summary) -> None:
    if summary.partial_updates:
        console.say(diff_text(summary))


def _largest(console: ResultConsole, summary: Summary) -> None:
    if not summary.largest:
        return
    most = summary.largest[0].rows
    sources = {(one.gtid or "").rpartition(_separator(one.gtid))[0] for one in summary.largest}
    grid = Grid("largest transactions", "")
    for one in summary.largest:
        number = one.gtid if len(sources) > 1 else (one.gtid or "").rpartition(_separator(one.gtid))[2]
        kinds = [sum(table.kinds[kind] for table in one.tables) for kind in range(3)]
        what = f"{number}: {one.words}" if number else one.words
        grid.add(_with_position(f"{what} at {when(one.time)}" + " (in part rolled back)" * one.rolled_back,
                                  f"{one.file}:{one.start}", one.server_id, one.thread_id,
                                  short(one.statement or "", _CHARACTERS)), bar(kinds, most))
    grid.print(console)
    if len(sources) == 1 and summary.largest[0].gtid:
        source, separator = sources.pop(), _separator(summary.largest[0].gtid)
        console.say(f"transaction N, as other commands take it: --gtids {source}{separator}N")


def _with_position(what: str, position: str, server_id: int, thread_id: int | None, *more: str) -> Text:
    """Return what happened, and below it the position in the log and the server and session."""
    thread = "" if thread_id is None else f"thread {thread_id}"
    facts = filter(None, (position, f"server {server_id}", thread, *more))
    return words(what).append("\n").append(words(", ".join(facts), "dim"))


def _separator(gtid: str | None) -> str:
    """Return the separator before the number of a transaction."""
    return ":" if ":" in (gtid or "") else "-"


def _tables(console: ResultConsole, summary: Summary) -> None:
    if not summary.tables:
        return
    most = summary.tables[0].rows
    grid = Grid("table", "inserted", "updated", "deleted", "", "transactions", "bytes",
                less=("transactions", "bytes"))
    for table in summary.tables[:_TABLES]:
        grid.add(table.table, *table.kinds, bar(table.kinds, most), table.transactions, table.bytes)
    grid.print(console)
    _more(console, len(summary.tables) - _TABLES, "tables")


def _times(console: ResultConsole, summary: Summary) -> None:
    seconds, steps = summary.in_steps(_STEPS)
    if not steps:
        return
    most = max(step.rows for step in steps)
    grid = Grid(f"from (UTC), {length(seconds)} each", "rows", "")
    for is_empty, run in groupby(steps, lambda step: not step.rows):
        these = list(run)
        if is_empty and len(these) > 2:
            grid.add(f"({len(these)} without changes)", "", "")
            continue
        for step in these:
            grid.add(label(step.time, seconds), step.rows, bar(step.kinds, most))
    grid.print(console)


def _statements(console: ResultConsole, summary: Summary) -> None:
    if not summary.statements:
        return
    grid = Grid("DDL")
    for one in summary.statements[:_STATEMENTS]:
        position = ", ".join(filter(None, (when(one.time), f"{one.file}:{one.start}", one.gtid)))
        grid.add(_with_position(short(one.sql), position, one.server_id, one.thread_id, one.user or "", one.database))
    grid.print(console)
    _more(console, summary.n_statements - _STATEMENTS, "statements")


def _logged_as_statements(console: ResultConsole, summary: Summary) -> None:
    if not summary.logged_as_statements:
        return
    grid = Grid("changes that are logged as statements", "kind", "statements")
    for one in summary.logged_as_statements:
        grid.add(one.table or "not known", one.kind, one.statements)
    grid.print(console)


def _servers(console: ResultConsole, summary: Summary) -> None:
    if len(summary.servers) < 2:
        return
    grid = Grid("server", "inserted", "updated", "deleted", "transactions")
    for one in summary.servers:
        grid.add(str(one.server_id), *one.kinds, one.transactions)
    grid.print(console)


def _threads(console: ResultConsole, summary: Summary) -> None:
    if len(summary.threads) < 2:
        return
    most = summary.threads[0].rows
    grid = Grid("thread", "inserted", "updated", "deleted", "", "transactions", "server",
                less=("transactions", "server"))
    for one in summary.threads:
        grid.add(str(one.thread_id), *one.kinds, bar(one.kinds, most), one.transactions, str(one.server_id))
    grid.print(console)


def _more(console: ResultConsole, count: int, what: str) -> None:
    if count > 0:
        console.say(f"{count:,} more {what}: --json and --html have them")


SUMMARY = Result(_print, Summary.to_json)
