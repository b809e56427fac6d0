"""A summary as one HTML page, which needs neither a network nor scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from applier.jobs.pages.diff_totals import diff_tiles
from applier.jobs.pages.document import Cell, card, document, facts_list, grid, statement, tiles, warnings
from applier.jobs.pages.parts import KINDS, bar, bars, escape
from applier.jobs.pages.timeline import Mark, Steps, small_timeline, timeline
from applier.jobs.summary.words import counted, label, length, short, span, when
from applier.version import __version__

if TYPE_CHECKING:
    from applier.jobs.summary.figures import LargeTransaction, SummaryFigures, SummaryStatement

_NAMES = tuple(part.name for part in KINDS)
_TABLES_PLOTTED, _STEPS_PLOTTED = 25, 240
_SMALL_PLOTS, _STEPS_OF_SMALL = 12, 96


def html_page(summary: SummaryFigures) -> str:
    """Return the whole page."""
    lead = f"{when(summary.first_time)} to {when(summary.last_time)}"
    return document("Summary of binlogs", f"What {span(summary.files)} did", lead, [
        _tiles(summary), warnings(summary.notes), _times(summary), _by_table(summary), _largest(summary),
        _tables(summary), _statements(summary), _who(summary), _facts(summary),
    ], f"Made by mysql-binlog-applier {__version__}. Times are UTC.")


def _tiles(summary: SummaryFigures) -> str:
    kinds = [(part.name, f"{count:,}", part.colour) for part, count in zip(KINDS, summary.rows.kinds, strict=True)]
    return tiles([("row changes", f"{summary.rows.rows:,}", ""), *kinds, *diff_tiles(summary),
                  ("transactions", f"{summary.transactions:,}", ""), ("tables", f"{len(summary.tables):,}", "")])


def _times(summary: SummaryFigures) -> str:
    seconds, steps = summary.in_steps(_STEPS_PLOTTED)
    if not steps:
        return ""
    marks = [Mark(one.time, str(number), f"{number}: {one.words} at {when(one.time)}", _anchor(number))
             for number, one in enumerate(summary.largest, 1)]
    events = [Mark(one.time, "", f"{when(one.time)}: {short(one.sql)}") for one in summary.statements]
    plot = timeline(f"Row changes, {length(seconds)} each", Steps(steps[0].time, seconds, len(steps)),
                    [(label(step.time, seconds), step.kinds) for step in steps], KINDS, marks, events)
    key = ('<p class="key">Numbers are the largest transactions, below.'
           + (' <span><span class="event"></span>DDL.</span>' if events else "") + "</p>")
    return card("Changes over time", plot, key)


def _by_table(summary: SummaryFigures) -> str:
    """Return small plots of the tables with the most changes, over the same time."""
    seconds, steps = summary.in_steps(_STEPS_OF_SMALL)
    shown = [table.table for table in summary.tables[:_SMALL_PLOTS]]
    if len(summary.tables) < 2 or not steps:
        return ""
    first = steps[0].time
    counts = {table: [[0] * len(KINDS) for _ in steps] for table in shown}
    for one in summary.by_time:
        if one.table in counts:
            step = counts[one.table][(one.time - first) // seconds]
            for kind, rows in enumerate(one.kinds):
                step[kind] += rows
    plots = [small_timeline(table, Steps(first, seconds, len(steps)),
                            [(label(step.time, seconds), kinds) for step, kinds in zip(steps, counts[table],
                                                                                       strict=True)], KINDS)
             for table in shown]
    which = f"The {len(shown)} tables with most changes of {len(summary.tables):,}" \
        if len(summary.tables) > len(shown) else "All tables"
    return card("Changes over time by table",
                f'<p class="meta">{which}, {length(seconds)} each, over the same time. Each plot has a scale of its '
                "own, up to the number at its right.</p>",
                f'<div class="multiples">{"".join(plots)}</div>')


def _largest(summary: SummaryFigures) -> str:
    if not summary.largest:
        return ""
    most = summary.largest[0].rows
    items = "\n".join(_transaction(number, one, most) for number, one in enumerate(summary.largest, 1))
    return card("Largest transactions", f'<ol class="list">\n{items}\n</ol>')


def _transaction(number: int, one: LargeTransaction, most: int) -> str:
    kinds = [sum(table.kinds[kind] for table in one.tables) for kind in range(len(KINDS))]
    words = one.words + " (in part rolled back)" * one.rolled_back
    thread = "" if one.thread_id is None else f"thread {one.thread_id}"
    meta = " · ".join(filter(None, (one.gtid, f"{one.file}:{one.start}", f"{one.bytes:,} bytes",
                                    f"server {one.server_id}", thread)))
    return (f'<li id="{_anchor(number)}"><span class="number">{number}</span><div class="body">'
            f'<div class="head"><span>{escape(words)}</span><span>{escape(when(one.time))}</span></div>'
            f'{bar(words, kinds, KINDS, most)}<p class="meta">{escape(meta)}</p>'
            f"{statement(short(one.statement or ''))}</div></li>")


def _anchor(number: int) -> str:
    return f"transaction-{number}"


def _tables(summary: SummaryFigures) -> str:
    shown = summary.tables[:_TABLES_PLOTTED]
    if not shown:
        return ""
    plot = bars("Row changes by table", [(table.table, table.kinds) for table in shown], KINDS)
    rows: list[Sequence[Cell]] = [
        [table.table, table.rows, *table.kinds, table.transactions, table.bytes] for table in summary.tables]
    more = f"<p>The plot shows the {len(shown)} tables with most changes of {len(rows):,}.</p>" \
        if len(rows) > len(shown) else ""
    return card("Tables", plot, more, grid(
        "Tables", ["table", "rows changed", *_NAMES, "transactions", "bytes of rows"], rows))


def _statements(summary: SummaryFigures) -> str:
    parts = []
    if summary.statements:
        more = f"<p>These are the first {len(summary.statements):,} of {summary.n_statements:,}.</p>" \
            if summary.n_statements > len(summary.statements) else ""
        items = "\n".join(map(_statement, summary.statements))
        parts.append(card("DDL", f'<ol class="list plain">\n{items}\n</ol>', more))
    if summary.logged_as_statements:
        parts.append(card("Changes that are logged as statements", grid(
            "Changes that are logged as statements", ["table", "kind", "statements"],
            [[one.table or "not known", one.kind, one.statements] for one in summary.logged_as_statements])))
    return "\n".join(parts)


def _statement(one: SummaryStatement) -> str:
    thread = "" if one.thread_id is None else f"thread {one.thread_id}"
    meta = " · ".join(filter(None, (when(one.time), f"{one.file}:{one.start}", one.gtid,
                                    f"server {one.server_id}", thread, one.user, one.database)))
    return f'<li>{statement(short(one.sql))}<p class="meta">{escape(meta)}</p></li>'


def _who(summary: SummaryFigures) -> str:
    """Return the servers and threads, if there are several."""
    parts = []
    if len(summary.servers) > 1:
        parts.append(card("Servers", grid(
            "Servers", ["server", "rows changed", *_NAMES, "transactions"],
            [[str(one.server_id), one.rows, *one.kinds, one.transactions] for one in summary.servers])))
    if len(summary.threads) > 1:
        parts.append(card("Threads with most changes", grid(
            "Threads", ["thread", "server", "rows changed", *_NAMES, "transactions"],
            [[str(one.thread_id), str(one.server_id), one.rows, *one.kinds, one.transactions]
             for one in summary.threads])))
    return "\n".join(parts)


def _facts(summary: SummaryFigures) -> str:
    return card("The log", facts_list([
        ("binlogs", span(summary.files)), ("read", f"{summary.bytes:,} bytes, up to {summary.position}"),
        ("transactions", f"{summary.transactions:,}, of {counted(summary.groups, 'event group')}"),
        ("server", ", ".join([summary.server, *(f"id {one.server_id}" for one in summary.servers[:8])])),
        ("GTID set", summary.gtids or "none"),
        *((("group ids", f"{summary.first_group_id} to {summary.last_group_id}"),)
          if summary.first_group_id is not None else ())]))
