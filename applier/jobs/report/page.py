"""The report as one HTML page, which needs neither a network nor scripts."""

from __future__ import annotations

from applier.jobs.replay.result import ACCESS_PATHS, TableResult
from applier.jobs.report.bars import bars, escape
from applier.jobs.report.document import document, facts_list, grid, warnings
from applier.jobs.report.loading import Report
from applier.mysql.time_zones import shown_with_local

_TABLES_PLOTTED = 25
_EXPLAINED = {
    "duplicate key": "a key of the change was taken: an insert replaced the row in its way, an update was skipped",
    "row not found": "the row of an update or delete was not there: the change was skipped",
}


def html_page(report: Report) -> str:
    """The whole page."""
    title = f"Replay of {report.result.snapshot}"
    sections = [_summary(report), _warnings(report), _stages(report), _tables(report), _conflicts(report)]
    return document(title, sections)


def _summary(report: Report) -> str:
    result, snapshot = report.result, report.snapshot
    suppressed = f"{result.conflicts:,}" if result.exec_mode == "idempotent" else \
        "none: strict mode stops at the first one"
    facts = [
        ("stands at", result.position), ("time there", _when(result.timestamp)),
        ("GTID set", result.gtid_set or "none"), ("server", snapshot.position.flavour),
        ("started from", snapshot.source.base or "nothing: the first binlog"),
        ("binlogs", _span(snapshot.source.binlogs)),
        ("options", ", ".join(f"{name} = {value}" for name, value in snapshot.source.options.items()) or "defaults"),
        ("row changes", f"{result.changes:,} in {sum(result.seconds.values()):,.1f} s"),
        ("exec mode", result.exec_mode), ("conflicts", suppressed),
        ("zero dates", f"{result.zero_dates:,} became null"), ("made by", snapshot.created_by),
    ]
    return facts_list(facts)


def _warnings(report: Report) -> str:
    lines = [*report.result.notes,
             *(f"{table.full_name}: {warning}" for table in report.result.tables for warning in table.warnings)]
    return warnings(lines)


def _stages(report: Report) -> str:
    rows = [(name, (seconds,)) for name, seconds in report.result.seconds.items()]
    units = ""
    if report.result.units:
        units = f"<p>The work was {report.result.units:,} units, on the “{report.result.route}” route.</p>"
    return f"<h2>Time</h2>\n{bars('Seconds by stage', rows, ('',), '{:,.2f}'.format)}\n{units}"


def _tables(report: Report) -> str:
    tables = sorted(report.result.tables, key=lambda table: (-table.changes, table.full_name))
    changed = [table for table in tables if table.changes or table.conflicts or table.by_foreign_keys]
    shown = changed[:_TABLES_PLOTTED]
    plots = []
    if shown:
        plots.append(bars("Row changes by table",
                          [(table.full_name, (table.inserts, table.updates, table.deletes)) for table in shown],
                          ("inserted", "updated", "deleted")))
        plots.append(bars("How updated and deleted rows were found",
                          [(table.full_name, [table.found.get(way, 0) for way in ACCESS_PATHS]) for table in shown],
                          ("primary key", "unique key", "other key", "scan of the table")))
    if len(changed) > len(shown):
        plots.append(f"<p>The plots show the {len(shown)} tables with most changes of {len(changed):,}.</p>")
    cascades = report.result.by_foreign_keys > 0
    rows: list[list[str | int]] = [
        [table.full_name, table.rows, table.inserts, table.updates, table.deletes,
         *([table.by_foreign_keys] if cascades else []), table.found_by,
         sum(table.conflicts.values()), _units(table), f"{table.seconds:,.2f}"] for table in tables]
    names = ["table", "rows now", "inserted", "updated", "deleted",
             *(["made by foreign keys"] if cascades else []), "found by", "conflicts", "units", "seconds"]
    return "\n".join(["<h2>Tables</h2>", *plots, grid(names, rows)])


def _units(table: TableResult) -> str:
    if table.ranges <= table.units:
        return f"{table.units:,}"
    return f"{table.units:,} instead of {table.ranges:,}: {table.tied}"


def _conflicts(report: Report) -> str:
    result = report.result
    if not result.conflicts:
        return ""
    kinds = list(_EXPLAINED)
    tables = sorted((table for table in result.tables if table.conflicts),
                    key=lambda table: -sum(table.conflicts.values()))
    plot = bars("Conflicts by table", [(table.full_name, [table.conflicts.get(kind, 0) for kind in kinds])
                                       for table in tables[:_TABLES_PLOTTED]], kinds)
    meaning = "".join(f"<li><b>{escape(kind)}</b>: {escape(text)}</li>" for kind, text in _EXPLAINED.items())
    shown: list[list[str | int]] = [
        [f"{row['file']}:{row['position']}", row["row"], row["table"], row["operation"], row["conflict"],
         f"{row['key']} = {row['values']}" if row["key"] else row["values"], row["gtid"] or ""]
        for row in report.conflicts]
    return "\n".join([
        "<h2>Conflicts</h2>",
        f"<p>The replay found {result.conflicts:,} conflicting changes, and went on:</p>",
        f"<ul>{meaning}</ul>", plot,
        f"<p>The first {len(shown):,}, in the order of the log; all are in <code>{escape(report.listing)}</code>.</p>",
        grid(["rows event", "row", "table", "change", "conflict", "key or row", "GTID"], shown)])


def _when(timestamp: int | None) -> str:
    return "not known" if timestamp is None else shown_with_local(timestamp)


def _span(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none" if len(names) < 3 else f"{names[0]} to {names[-1]} ({len(names)} files)"
