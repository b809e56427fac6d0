"""What the demo archive's server held, and what a snapshot of it holds, in one form that compares."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from applier import Snapshot

ARCHIVE = Path(__file__).parent / "demo"


def digest(rows: list[tuple[Any, ...]]) -> str:
    """A digest of rows as Python values (int, float, str, bytes, Decimal, naive datetime, None), in their order."""
    return hashlib.sha256("\n".join(map(repr, rows)).encode()).hexdigest()


def expected(mark: str) -> dict[str, dict[str, Any]]:
    """{"db.table": {"rows": count, "sha256": digest}} of the server, just "before_mistake" or at the "end"."""
    marks: dict[str, dict[str, dict[str, Any]]] = json.loads((ARCHIVE / "expected.json").read_text())
    return marks[mark]


def held(snapshot: Path) -> dict[str, dict[str, Any]]:
    """The same of a snapshot, or of the newest in a lake, from the files that its manifest names."""
    answer = {}
    for name, table in Snapshot(snapshot).tables.items():
        rows: list[tuple[Any, ...]] = []
        for file in table.files:
            columns = [column.to_pylist() for column in pq.read_table(file).columns]
            rows += [tuple(map(_plain, row)) for row in zip(*columns)]
        rows.sort(key=lambda row: row[:2])
        answer[name] = {"rows": len(rows), "sha256": digest(rows)}
    return answer


def _plain(value: Any) -> Any:
    """TIMESTAMPs are UTC in a snapshot, and naive UTC as they came from the server."""
    return value.replace(tzinfo=None) if getattr(value, "tzinfo", None) is not None else value
