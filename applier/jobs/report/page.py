"""The report as one HTML page, which needs neither a network nor scripts."""

from __future__ import annotations

from collections.abc import Sequence

from applier.jobs.pages.diff_totals import diff_tiles
from applier.jobs.pages.document import Cell, card, document, facts_list, grid, tiles, warnings
from applier.jobs.pages.parts import KINDS, ONE, Part, bars, escape
from applier.jobs.replay.result import ACCESS_PATHS, TableResult
from applier.jobs.report.loading import Report
from applier.mysql.values.time_zones import shown_with_local

_TABLES_PLOTTED = 25
_FOUND_BY = (Part("primary key", "primary"), Part("unique key", "unique"), Part("other key", "other-key"),
             Part("scan of the table", "scan"))
"""In the order of ACCESS_PATHS."""
_CONFLICTS = Part("duplicate key", "duplicate"), Part("row not found", "missing")
_EXPLAINED = {
    "duplicate key": "a key of the change was taken: an insert replaced the row in its way, an update was skipped",
    "row not found": "the row of an update or delete was not there: the change was skipped",
}
_STOPS = {"stop_position": "--stop-position", "stop_gtid": "--stop-gtid", "stop_datetime": "--stop-datetime"}


def html_page(report: Report) -> str:
    """Return the whole page."""
    result = report.result
    lead = f"All tables at {result.position}, {_when(result.timestamp)}"
    return document("Report of a replay", result.snapshot, lead, [
        _tiles(report), _warnings(report), _way(report), _tables(report), _found_by(report), _stages(report),
        _conflicts(report), _witness(report), _facts(report),
    ], f"Made by {report.snapshot.created_by}. Times are UTC.")


def _tiles(report: Report) -> str:
    result, tables = report.result, report.result.tables
    kinds = [sum(counts) for counts in zip(*((table.inserts, table.updates, table.deletes) for table in tables),
                                           strict=True)] or [0] * len(KINDS)
    conflicts = [("conflicts", f"{result.conflicts:,}", "")] if result.exec_mode == "idempotent" else []
    return tiles([("row changes", f"{result.changes:,}", ""),
                  *((part.name, f"{count:,}", part.colour) for part, count in zip(KINDS, kinds, strict=True)),
                  *conflicts, *diff_tiles(result), ("tables", f"{len(tables):,}", ""),
                  ("rows now", f"{sum(table.rows for table in tables):,}", ""),
                  ("took", f"{sum(result.seconds.values()):,.1f} s", "")])


def _warnings(report: Report) -> str:
    lines = [*report.result.notes,
             *(f"{table.full_name}: {warning}" for table in report.result.tables for warning in table.warnings)]
    return warnings(lines)


def _way(report: Report) -> str:
    """From where to where the replay went, and why it stopped there."""
    source, result = report.snapshot.source, report.result
    start = source.options.get("start_position")
    base = source.base or "nothing: the first binlog"
    from_where = base if start is None else f"{base}, from {start} on"
    stops = [f"{option} {_stop(name, source.options[name])}" for name, option in _STOPS.items()
             if name in source.options]
    why = f"Stopped there by {stops[0]}: what came later is not in this snapshot." if stops else \
        "Replayed to the end of the log."
    mode = "" if result.exec_mode == "idempotent" else \
        "Strict mode: no conflicts."
    return card(
        "From where to where",
        f'<div class="way"><div class="from"><span class="meta">started from</span><b>{escape(from_where)}</b></div>'
        f'<div class="track"><span>&nbsp;{escape(_span(source.binlogs))}&nbsp;</span></div>'
        f'<div class="to"><span class="meta">stands at</span><b>{escape(result.position)}</b>'
        f'<span class="meta">{escape(_when(result.timestamp))}</span></div></div>',
        f'<p class="stop">{escape(why)}</p>', f'<p class="meta">{mode}</p>' if mode else "")


def _stop(name: str, value: object) -> str:
    return shown_with_local(value) if name == "stop_datetime" and isinstance(value, int | float) else str(value)


def _stages(report: Report) -> str:
    result = report.result
    rows = [(name, (seconds,)) for name, seconds in result.seconds.items()]
    units = ""
    if result.units:
        units = f"<p>{result.units:,} units, route: {escape(result.route)}.</p>"
    return card("Time", bars("Seconds by stage", rows, ONE, "{:,.2f}".format), units, is_half=True)


def _changed(report: Report) -> list[TableResult]:
    """Return the tables in which something happened, those with most changes first."""
    return sorted((table for table in report.result.tables
                   if table.changes or table.conflicts or table.by_foreign_keys),
                  key=lambda table: (-table.changes, table.full_name))


def _tables(report: Report) -> str:
    tables = sorted(report.result.tables, key=lambda table: (-table.changes, table.full_name))
    changed = _changed(report)
    shown = changed[:_TABLES_PLOTTED]
    plot = bars("Row changes by table", [(table.full_name, (table.inserts, table.updates, table.deletes))
                                         for table in shown], KINDS) if shown else ""
    more = f"<p>The plots show the {len(shown)} tables with most changes of {len(changed):,}.</p>" \
        if len(changed) > len(shown) else ""
    cascades = report.result.by_foreign_keys > 0
    rows: list[Sequence[Cell]] = [
        [table.full_name, table.rows, table.inserts, table.updates, table.deletes,
         *([table.by_foreign_keys] if cascades else []), table.found_by,
         sum(table.conflicts.values()), table.seconds, _units(table)] for table in tables]
    names = ["table", "rows now", "inserted", "updated", "deleted",
             *(["made by foreign keys"] if cascades else []), "found by", "conflicts", "seconds", "units"]
    return card("Tables", plot, more, grid("Tables", names, rows))


def _found_by(report: Report) -> str:
    found = [table for table in _changed(report) if table.found][:_TABLES_PLOTTED]
    if not found:
        return ""
    return card("How rows were found", bars(
        "Updated and deleted rows, by what found them",
        [(table.full_name, [table.found.get(way, 0) for way in ACCESS_PATHS]) for table in found], _FOUND_BY),
        is_half=True)


def _units(table: TableResult) -> Cell:
    if table.ranges <= table.units:
        return table.units
    return f"{table.units:,} instead of {table.ranges:,}: {table.tied}"


def _conflicts(report: Report) -> str:
    result = report.result
    if not result.conflicts:
        return ""
    tables = sorted((table for table in result.tables if table.conflicts),
                    key=lambda table: -sum(table.conflicts.values()))
    plot = bars("Conflicts by table", [(table.full_name, [table.conflicts.get(part.name, 0) for part in _CONFLICTS])
                                       for table in tables[:_TABLES_PLOTTED]], _CONFLICTS)
    meaning = "".join(f'<p><i class="{part.colour}"></i><b>{part.name}</b>: {_EXPLAINED[part.name]}</p>'
                      for part in _CONFLICTS)
    shown: list[Sequence[Cell]] = [
        [f"{row['file']}:{row['position']}", row["row"], row["table"], row["operation"], row["conflict"],
         f"{row['key']} = {row['values']}" if row["key"] else row["values"], row["gtid"] or ""]
        for row in report.conflicts]
    return card(
        "Conflicts", f"<p>The replay found {result.conflicts:,} conflicting changes, and continued:</p>", meaning, plot,
        f"<p>The first {len(shown):,}, in log order; all are in <code>{escape(report.listing)}</code>.</p>",
        grid("Conflicts", ["rows event", "row", "table", "change", "conflict", "key or row", "GTID"], shown))


def _witness(report: Report) -> str:
    witness = report.result.witness
    if not witness.differences:
        return ""
    rows: list[Sequence[Cell]] = [
        [found.table, found.column + " (expression)" * found.computed, found.count, f"{found.file}:{found.position}",
         found.row, found.key, found.logged, found.held, found.gtid or ""] for found in witness.differences]
    names = ["table", "column", "differences", "first at", "row", "key", "in the log", "replayed", "GTID"]
    return card(
        "Differences from before-images",
        "<p>Some before-images differ from the rows that they found, or generated columns of after-images from their "
        "expressions. The snapshot has the rows that a replica would have. A line for each column, with its first "
        "difference.</p>",
        grid("Differences from before-images", names, rows))


def _facts(report: Report) -> str:
    result, snapshot = report.result, report.snapshot
    suppressed = f"{result.conflicts:,}" if result.exec_mode == "idempotent" else \
        "none: strict mode stops at the first one"
    options = [f"{name} = {_stop(name, value)}" for name, value in snapshot.source.options.items()]
    return card("The run", facts_list([
        ("row changes", f"{result.changes:,} in {sum(result.seconds.values()):,.1f} s"),
        ("binlogs", _span(snapshot.source.binlogs)), ("server", snapshot.position.flavour),
        ("options", ", ".join(options) or "defaults"), ("exec mode", result.exec_mode), ("conflicts", suppressed),
        ("witness", "no before-image was compared" if result.witness.is_empty else str(result.witness)),
        ("zero dates", f"{result.zero_dates:,} became null"), ("GTID set", result.gtid_set or "none")]))


def _when(timestamp: int | None) -> str:
    return "time not known" if timestamp is None else shown_with_local(timestamp)


def _span(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none" if len(names) < 3 else f"{names[0]} to {names[-1]} ({len(names)} files)"
