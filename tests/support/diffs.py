"""The expected result of `applier.diff`, by plain Python on rows as texts of cells; and snapshots from rows."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

import applier
from applier.mysql.types import quote_text
from tests.support.folded_changes import Row, rows_of


def snapshot_of(place: Path, create: str, rows: list[tuple], name: str = "d.t", file_bytes: int = 64 << 20,
                flavour: str = "mysql"):
    """A snapshot with one table and these rows of None, int, float, str and bytes."""
    values = ",\n".join(f"({','.join(map(_literal, row))})" for row in rows)
    dump = place.with_suffix(".sql")
    dump.write_text(f"SET NAMES utf8mb4;\nCREATE DATABASE d;\n{create};\n"
                    + (f"INSERT INTO {name} VALUES {values};\n" if rows else ""), encoding="utf-8")
    return applier.import_dump(dump, place, flavour=flavour, target_file_size=file_bytes).snapshot


def found(table: applier.TableDiff) -> tuple[Counter[Row], Counter[Row], Counter[tuple[Row, Row]]]:
    """The rows removed, added and changed (before, after); asserts that the counts are of these, and that `_changed`
    names the columns that differ, those of invalid dates included, which Arrow shows as null."""
    columns = table.schema.names[:-2]
    rows = table.to_arrow()
    kinds, named = rows["_change_type"].to_pylist(), rows["_changed"].to_pylist()
    cells = rows_of(rows, columns)
    removed, added = (Counter(row for kind, row in zip(kinds, cells, strict=True) if kind == wanted)
                      for wanted in ("delete", "insert"))
    changed: Counter[tuple[Row, Row]] = Counter()
    for (kind, before, names), (next_kind, after, again) in pairwise(zip(kinds, cells, named, strict=True)):
        assert (kind == "update_preimage") == (next_kind == "update_postimage")
        if kind == "update_preimage":
            changed[before, after] += 1
            differing = [column for column, a, b in zip(columns, before, after, strict=True) if a != b]
            assert names == again and set(differing) <= set(names)
            assert all(pa.types.is_temporal(rows.schema.field(name).type) for name in set(names).difference(differing))
    assert (table.removed, table.added, table.changed) == (removed.total(), added.total(), changed.total())
    return removed, added, changed


def expected_by_key(before: list[Row], after: list[Row], key) -> tuple[Counter, Counter, Counter]:
    """The same of lists of rows, given a function that makes a row's key."""
    left, right = ({key(row): row for row in rows} for rows in (before, after))
    return (Counter(row for name, row in left.items() if name not in right),
            Counter(row for name, row in right.items() if name not in left),
            Counter((row, right[name]) for name, row in left.items() if name in right and right[name] != row))


def _literal(value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return quote_text(value) if isinstance(value, str) else repr(value)
