"""Tables with columns of many types, in each shape that other programs read: rows, changes, versions."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import applier
from tests.support.real_server import Case, replayed

CASES = ("mysql-types-number-time", "mysql-types-text", "mysql-types-json", "mariadb-types", "mariadb-types-text")
CHANGES = {"changes": {}, "complete": {"complete": True}, "uint64": {"unsigned_bigint": "uint64"}}
"""Arguments of `applier.changes`, by shape."""


@dataclass(frozen=True)
class Rows:
    """Rows of a table of a recorded case: `rows` is what other programs take, `source` where they come from."""

    table: str
    shape: str
    rows: Any
    source: Path

    @property
    def values(self) -> dict[str, list]:
        """The values of each column, as Arrow has them."""
        return self.rows.to_arrow().to_pydict()


def rows_of_case(name: str, folder: Path) -> Iterator[Rows]:
    """Each table of a case in each shape; its snapshot is made in the folder."""
    case = Case(name)
    replayed(case, folder / "snapshot")
    archive = case.binlogs[0].parent
    for table in applier.Snapshot(folder / "snapshot").tables.values():
        yield Rows(table.full_name, "snapshot", table, folder / "snapshot")
        for shape, arguments in CHANGES.items():
            yield Rows(table.full_name, shape, applier.changes(archive, table.full_name, **arguments), archive)
        yield Rows(table.full_name, "history", applier.history(archive, table.full_name), archive)
