"""A summary as one HTML page, which needs neither a network nor scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from applier.jobs.report.bars import COLOURS, bars
from applier.jobs.report.document import document, facts_list, grid, warnings
from applier.jobs.report.timeline import timeline
from applier.jobs.summary.words import label, length, short, span, when

if TYPE_CHECKING:
    from applier.jobs.summary.result import Summary

_KINDS = ("inserted", "updated", "deleted")
_TABLES_PLOTTED, _STEPS_PLOTTED = 25, 240


def html_page(summary: Summary) -> str:
    """The whole page."""
    title = f"What {span(summary.files)} did"
    return document(title, [_facts(summary), warnings(summary.notes), _largest(summary), _times(summary),
                            _tables(summary), _statements(summary), _servers(summary), _threads(summary)])


def _facts(summary: Summary) -> str:
    return facts_list([
        ("binlogs", span(summary.files)), ("read", f"{summary.bytes:,} bytes, up to {summary.position}"),
        ("from", when(summary.first_time)), ("to", when(summary.last_time)),
        ("transactions", f"{summary.transactions:,}, of {summary.groups:,} event groups"),
        ("row changes", f"{summary.rows.rows:,}: {summary.rows.inserts:,} inserts, {summary.rows.updates:,} updates, "
                        f"{summary.rows.deletes:,} deletes"),
        ("server", summary.server), ("GTID set", summary.gtids or "none")])


def _largest(summary: Summary) -> str:
    if not summary.largest:
        return ""
    plotted = [(f"{number}. {when(one.time)[11:19]} {one.tables[0].table}",
                [sum(table.kinds[kind] for table in one.tables) for kind in range(len(_KINDS))])
               for number, one in enumerate(summary.largest[:_TABLES_PLOTTED], 1)]
    rows: list[Sequence[str | int]] = [
        [number, one.rows, one.words + (" (in part rolled back)" if one.rolled_back else ""), when(one.time),
         one.gtid or "", f"{one.file}:{one.start}", one.bytes, str(one.server_id),
         "" if one.thread_id is None else str(one.thread_id), short(one.statement or "")]
        for number, one in enumerate(summary.largest, 1)]
    return "\n".join([
        "<h2>Largest transactions</h2>", bars("Rows of the largest transactions", plotted, _KINDS),
        grid(["", "rows", "changes", "when", "GTID", "starts at", "bytes", "server", "thread", "statement"], rows)])


def _times(summary: Summary) -> str:
    seconds, steps = summary.in_steps(_STEPS_PLOTTED)
    if not steps:
        return ""
    plots = [timeline(f"Row changes by time, {length(seconds)} each",
                      [(label(step.time, seconds), step.kinds) for step in steps], _KINDS)]
    tables = [table.table for table in summary.tables[:len(COLOURS)]]
    if len(summary.tables) > 1:
        sums = {step.time: [0] * len(tables) for step in steps}
        for one in summary.by_time:
            if one.table in tables:
                sums[one.time - one.time % seconds][tables.index(one.table)] += one.rows
        plots.append(timeline(f"Row changes of the {len(tables)} tables with most of them, {length(seconds)} each",
                              [(label(time, seconds), values) for time, values in sums.items()], tables))
    return "\n".join(["<h2>Time</h2>", *plots])


def _tables(summary: Summary) -> str:
    shown = summary.tables[:_TABLES_PLOTTED]
    if not shown:
        return ""
    plot = bars("Row changes by table", [(table.table, table.kinds) for table in shown], _KINDS)
    rows: list[Sequence[str | int]] = [
        [table.table, table.rows, *table.kinds, table.transactions, table.bytes] for table in summary.tables]
    more = f"<p>The plot shows the {len(shown)} tables with most changes of {len(rows):,}.</p>" \
        if len(rows) > len(shown) else ""
    return "\n".join(["<h2>Tables</h2>", plot, more, grid(
        ["table", "rows changed", *_KINDS, "transactions", "bytes of rows"], rows)])


def _statements(summary: Summary) -> str:
    parts = []
    if summary.statements:
        parts += ["<h2>DDL</h2>", grid(
            ["when", "at", "server", "thread", "user", "database", "statement"],
            [[when(one.time), f"{one.file}:{one.position}", str(one.server_id),
              "" if one.thread_id is None else str(one.thread_id), one.user or "", one.database, short(one.sql)]
             for one in summary.statements])]
    if summary.n_statements > len(summary.statements):
        parts.append(f"<p>These are the first {len(summary.statements):,} of {summary.n_statements:,}.</p>")
    if summary.logged_as_statements:
        parts += ["<h2>Changes that are logged as statements</h2>", grid(
            ["table", "kind", "statements"],
            [[one.table or "not known", one.kind, one.statements] for one in summary.logged_as_statements])]
    return "\n".join(parts)


def _servers(summary: Summary) -> str:
    if not summary.servers:
        return ""
    return "\n".join(["<h2>Servers</h2>", grid(
        ["server", "rows changed", *_KINDS, "transactions"],
        [[str(one.server_id), one.rows, *one.kinds, one.transactions] for one in summary.servers])])


def _threads(summary: Summary) -> str:
    if not summary.threads:
        return ""
    return "\n".join(["<h2>Threads with most changes</h2>", grid(
        ["thread", "server", "rows changed", *_KINDS, "transactions"],
        [[str(one.thread_id), str(one.server_id), one.rows, *one.kinds, one.transactions]
         for one in summary.threads])])
