"""Results as JSON for other programs: one document on stdout, with the names of Python and the manifest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from applier.binlog.locating.groups import Group
    from applier.jobs.explain.definitions import TableHistory
    from applier.jobs.explain.searches import SearchExplained, TableExplained
    from applier.jobs.report.loading import Report
    from applier.jobs.verify.files import Verified
    from applier.jobs.verify.result import DifferentRow, DifferentTable, ServerComparison
    from applier.snapshot.manifest import Snapshot


def print_json(document: object) -> None:
    """Print a document on one line, in ASCII."""
    print(json.dumps(document, default=_text))


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def status_document(snapshot: Snapshot, definitions: bool) -> dict[str, object]:
    """Return a snapshot's position and contents; with CREATE TABLEs if requested."""
    at = snapshot.position
    return {
        "snapshot": snapshot.uri, "file": at.file, "offset": at.offset, "gtid_set": at.gtid_set.replace("\n", ""),
        "group_id": at.group_id, "timestamp": at.timestamp, "flavour": at.flavour, "base": snapshot.source.base,
        "binlogs": list(snapshot.source.binlogs), "prepared": [asdict(entry) for entry in snapshot.prepared],
        "left_out": [asdict(entry) for entry in snapshot.left_out], "options": snapshot.source.options,
        "created_by": snapshot.created_by,
        "tables": [{"table": table.full_name, "rows": table.rows, "bytes": table.bytes, "files": len(table.files),
                    "sorted_by": list(table.key)}
                   | ({"definition": table.definition.to_sql()} if definitions else {}) for table in snapshot.tables],
    }


def report_document(report: Report) -> dict[str, object]:
    """Return the contents of `_report.json`, and the first conflicts."""
    return {"snapshot": report.result.snapshot} | report.result.report() | {"first_conflicts": list(report.conflicts)}


def located_document(groups: Sequence[Group]) -> list[dict[str, object]]:
    """Return event groups, in log order."""
    return [asdict(group) for group in groups]


def explained_document(tables: Sequence[TableExplained], definitions: Sequence[TableHistory]) -> dict[str, object]:
    """Return the keys by which rows are found, and where definitions come from."""
    return {"tables": [_explained(table) for table in tables], "definitions": [asdict(one) for one in definitions]}


def _explained(table: TableExplained) -> dict[str, object]:
    return {"table": table.definition.full_name, "since": table.since or None, "rows_events": table.n_events,
            "bytes": table.n_bytes, "searches": [_search(table, search) for search in table.searches],
            "duplicates": list(table.duplicates), "warnings": list(table.warnings)}


def _search(table: TableExplained, search: SearchExplained) -> dict[str, object]:
    columns, choice = table.definition.columns, search.choice
    return {"images": [columns[number].name for number in sorted(search.images.present) if number < len(columns)],
            "samples": search.images.samples, "by": choice.kind, "key": choice.name or None,
            "columns": [columns[number].name for number in choice.columns], "reads": choice.cost,
            "reason": choice.reason, "passed_over": list(choice.passed_over), "warnings": list(search.warnings)}


def verified_document(verified: Verified) -> dict[str, object]:
    """Return what was read of a snapshot's files, and a line for each damaged one."""
    return {"same": not verified.damaged} | asdict(verified)


def comparison_document(found: ServerComparison, rows: int) -> dict[str, object]:
    """Return the comparison of a snapshot with a server, with at most `rows` rows of each table that differs."""
    return {"same": found.same, "tables": found.tables, "rows": found.rows, "ranges": found.ranges,
            "position": found.position, "server_position": found.server_position,
            "different": [_different(table, rows) for table in found.different]}


def _different(table: DifferentTable, most: int) -> dict[str, object]:
    return {"table": table.full_name, "answered": table.answered,
            "ranges": [asdict(part) for part in table.ranges],
            "rows": [_row(table, row) for row in table.rows[:most]]}


def _row(table: DifferentTable, row: DifferentRow) -> dict[str, Any]:
    from applier.cli.output.compared import key_values, values_here, values_there

    key, here, there = ({name: value.whole for name, value in values(table, row).items()}
                        for values in (key_values, values_here, values_there))
    return {"kind": row.kind, "key": key, "columns": list(row.columns), "here": here or None, "there": there or None,
            "count": row.count,
            "last_change": None if row.last_change is None else asdict(row.last_change)}
