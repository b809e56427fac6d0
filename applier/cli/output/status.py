"""Print results as tables on stdout: what a replay did, and what a snapshot contains."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from applier.cli.output.grids import Grid
from applier.cli.output.results import Result
from applier.cli.terminal import ResultConsole, words
from applier.jobs.replay.result import ReplayResult
from applier.jobs.report.loading import Report
from applier.jobs.summary.words import counted, diff_text
from applier.mysql.values.time_zones import shown_with_local
from applier.snapshot.manifest import Snapshot

if TYPE_CHECKING:
    from applier.jobs.compare import Comparison
    from applier.jobs.publish.result import PublishedAsOf
    from applier.jobs.verify.files import Verified


def _print_replayed(console: ResultConsole, result: ReplayResult) -> None:
    """Print a line for each table with its row changes, then the snapshot's position and the time it took."""
    for note in result.notes:
        console.say((note, "yellow"))
    for table in result.tables:
        for warning in table.warnings:
            console.say((f"{table.full_name}: {warning}", "yellow"))
    conflicts = ("conflicts",) if result.conflicts else ()
    cascades = ("made by foreign keys",) if result.by_foreign_keys else ()
    grid = Grid("table", "rows", "inserted", "updated", "deleted", *cascades, "found by", *conflicts, "units",
                "seconds", "files written", "carried over",
                less=("units", "seconds", "files written", "carried over"))
    for table in sorted(result.tables, key=lambda table: (table.database, table.name)):
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in table.conflicts.items())
        grid.add(table.full_name, table.rows, table.inserts, table.updates, table.deletes,
                *[table.by_foreign_keys for _ in cascades], table.found_by, *[kinds for _ in conflicts], table.units,
                table.seconds, table.files_written, table.files_carried)
    if result.tables:  # empty if the log has nothing new for a lake
        grid.print(console)
    for table in result.tables:
        if table.ranges > table.units:
            console.say(f"{table.full_name} was {table.units:,} unit of work instead of "
                        f"{table.ranges:,}: {table.tied}")
    if result.conflicts:
        console.say((f"{result.conflicts:,} conflicts were suppressed: {result.snapshot}/_conflicts.parquet "
                    "lists them with key, GTID and position", "yellow"))
    for difference in result.witness.differences:
        console.say((str(difference), "yellow"))
    if not result.witness.is_empty:
        console.say(f"witness: {result.witness}")
    if result.partial_updates:
        console.say(diff_text(result))
    console.say((result.snapshot, "bold"), " stands at ", (result.position, "bold"), f" ({_when(result.timestamp)})")
    total = sum(result.seconds.values())
    phases = ", ".join(f"{name} {seconds:.1f}" for name, seconds in result.seconds.items())
    console.say(f"{result.changes:,} row changes in {total:.1f} s" + (f" ({phases})" if phases else ""))


REPLAYED = Result(_print_replayed)


def _print_report(console: ResultConsole, report: Report) -> None:
    """Print the result of a run, and the first conflicts that it suppressed."""
    if report.conflicts:
        grid = Grid("rows event", "row", "table", "change", "conflict", "key", "values", "GTID",
                    less=("row", "GTID"), names=("rows event", "table", "GTID"))
        for row in report.conflicts:
            grid.add(f"{row['file']}:{row['position']}", row["row"], row["table"], row["operation"],
                    row["conflict"], row["key"], row["values"], row["gtid"] or "")
        grid.print(console)
        if len(report.conflicts) < report.result.conflicts:
            console.say(f"… and {report.result.conflicts - len(report.conflicts):,} more")
    _print_replayed(console, report.result)


def _report_document(report: Report) -> dict[str, object]:
    return {"snapshot": report.result.snapshot} | report.result.report() | {"first_conflicts": list(report.conflicts)}


REPORT = Result(_print_report, _report_document)
"""The contents of `_report.json`, and the first conflicts."""


def _print_imported(console: ResultConsole, result: ReplayResult) -> None:
    """Print a line for each table of a dump, then the snapshot's position and the time it took."""
    grid = Grid("table", "rows", "files")
    for table in result.tables:
        grid.add(f"{table.database}.{table.name}", table.rows, table.files_written)
    grid.print(console)
    for note in result.notes:
        console.say((note, "yellow"))
    console.say((result.snapshot, "bold"), " stands at ", (result.position, "bold"))
    console.say(f"{sum(table.rows for table in result.tables):,} rows in {sum(result.seconds.values()):.1f} s")


IMPORTED = Result(_print_imported)


def _print_verified(console: ResultConsole, verified: Verified) -> None:
    """Print the damaged files, one line each, and how much was read."""
    for line in verified.damaged:
        console.say(line)
    if verified.unchecked:
        console.say((f"{verified.unchecked:,} files were written without a digest by an older version: their "
                    "bytes could not be compared", "yellow"))
    if not verified.damaged:
        console.say(f"{verified.files:,} files with {verified.rows:,} rows, {verified.bytes / 1e6:,.1f} MB, "
                    "are intact")


VERIFIED = Result(_print_verified, lambda verified: {"same": not verified.damaged} | asdict(verified))
"""What was read of a snapshot's files, and a line for each damaged one."""


def _print_snapshot(console: ResultConsole, snapshot: Snapshot, definitions: bool, compared: Comparison | None) -> None:
    """Print the position and the tables of a snapshot, their CREATE TABLEs if requested, and how far it is behind the
    archive that it was compared with."""
    position, is_of_dump = snapshot.position, "dump" in snapshot.source.options
    facts = [
        ("position", str(position) if position.file or not is_of_dump else "unknown"),
        ("time", "unknown: a dump does not say it" if is_of_dump else _when(position.timestamp)),
        ("GTID set", position.gtid_set.replace("\n", "") or ("unknown" if is_of_dump else "none")),
        *((("group id", str(position.group_id)),) if position.group_id is not None else ()),
        ("server", position.flavour),
        ("base", snapshot.source.base or "none: replays start at the first binlog"),
        ("binlogs", _first_and_last(snapshot.source.binlogs)),
        *(("prepared", f"XA {entry.xid} at {entry.file}:{entry.start}: not in the snapshot until it is committed")
          for entry in snapshot.prepared),
        *(("left out", str(entry)) for entry in snapshot.left_out),
        ("options", ", ".join(f"{name}={value}" for name, value in snapshot.source.options.items()) or "defaults"),
        ("made by", snapshot.created_by),
        *(() if compared is None else (("behind", _behind(compared)),)),
    ]
    console.say((snapshot.uri, "bold"))
    for name, value in facts:
        console.say((f"  {name:<9}", "cyan"), value)
    grid = Grid("table", "rows", "bytes", "files", "sorted by", less=("files",))
    for table in snapshot.tables:
        grid.add(table.full_name, table.rows, table.bytes, len(table.files), ", ".join(table.key))
    grid.print(console)
    for table in snapshot.tables if definitions else ():
        console.print(words(table.definition.to_sql() + ";", keep="\n"))


def _behind(compared: Comparison) -> str:
    """Return how far a snapshot is behind an archive."""
    place, distance = compared.b.place, compared.distance
    if compared.relation in ("same", "ahead"):
        return f"nothing: it is {'at the end' if compared.relation == 'same' else 'ahead'} of {place}"
    if distance is None or compared.attach is None:
        return f"unknown: {compared.obstacle or 'the snapshot has transactions that the archive does not have'}"
    parts = [counted(distance.files, "file"), counted(distance.bytes, "byte"),
             *([] if distance.transactions is None else [counted(distance.transactions, "transaction")]),
             *([] if distance.seconds is None else [f"{distance.seconds:,} s"])]
    return f"{', '.join(parts)}: it continues in {place} at {compared.attach}"


def _snapshot_document(snapshot: Snapshot, definitions: bool, compared: Comparison | None) -> dict[str, object]:
    at = snapshot.position
    behind: dict[str, object] = {}
    if compared is not None:
        behind["behind"] = {name: value for name, value in compared.to_json().items()
                            if name in ("relation", "attach", "obstacle", "distance")}
    return {
        "snapshot": snapshot.uri, "file": at.file, "offset": at.offset, "gtid_set": at.gtid_set.replace("\n", ""),
        "group_id": at.group_id, "timestamp": at.timestamp, "flavour": at.flavour, "base": snapshot.source.base,
        "binlogs": list(snapshot.source.binlogs), "prepared": [asdict(entry) for entry in snapshot.prepared],
        "left_out": [asdict(entry) for entry in snapshot.left_out], "options": snapshot.source.options,
        "created_by": snapshot.created_by,
        "tables": [{"table": table.full_name, "rows": table.rows, "bytes": table.bytes, "files": len(table.files),
                    "sorted_by": list(table.key)}
                   | ({"definition": table.definition.to_sql()} if definitions else {}) for table in snapshot.tables],
        **behind}


SNAPSHOT = Result(_print_snapshot, _snapshot_document)
"""A snapshot's position and contents; with CREATE TABLEs if requested."""


def _print_published(console: ResultConsole, found: PublishedAsOf, what: str) -> None:
    """Print where the tables of a catalog stand, or stood, and by which snapshot or version a reader finds each."""
    at = found.position
    console.say((found.catalog, "bold"))
    for name, value in (("position", str(at)), ("time", _when(at.timestamp)),
                        ("GTID set", at.gtid_set.replace("\n", "") or "none")):
        console.say((f"  {name:<9}", "cyan"), value)
    grid = Grid("table", what, "changed at", names=("table", "changed at"))
    for table in found.tables:
        grid.add(table.name, str(table.id), table.position)
    grid.print(console)
    for note in found.notes:
        console.say((note, "yellow"))


PUBLISHED = Result(_print_published, lambda found, what: asdict(found))
"""Where published tables stand."""


def _when(timestamp: int | None) -> str:
    if timestamp is None:
        return "before the first event group"
    return shown_with_local(timestamp)


def _first_and_last(names: tuple[str, ...]) -> str:
    if len(names) < 3:
        return ", ".join(names) or "none"
    return f"{names[0]} to {names[-1]} ({len(names)} files)"
