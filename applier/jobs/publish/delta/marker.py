"""The marker beside the tables, `_applier.json`, which records the position of all of them.

Delta changes one table at a time. So the marker is written before the first change, with `complete` false, and after
the last one. All tables are at one position, `position`, if and only if `complete` is true: it is false while they
change, and if only some tables of a later snapshot were published.

    lineage     of the snapshots that are published there
    position, gtid_set, timestamp    of the last one
    complete    whether all tables are there
    tables      {folder: {database, name, columns: [number, …], position, dropped}, …}    all that were ever published
"""

from __future__ import annotations

from dataclasses import dataclass, field

import orjson

from applier.errors import SnapshotError
from applier.io.typed_json import Count, Mismatch, Seconds, build, loads
from applier.jobs.publish.delta.storage import Storage

MARKER = "_applier.json"


@dataclass(frozen=True)
class MarkedTable:
    """A table that was published: its name, the numbers of its columns, the position at which it was as a snapshot had
    it, and whether it was dropped there."""

    database: str
    name: str
    columns: tuple[Count, ...]
    position: str
    dropped: bool = False

    @property
    def full_name(self) -> str:
        """ "db.table"."""
        return f"{self.database}.{self.name}"


@dataclass(frozen=True)
class Marker:
    """The document."""

    lineage: str
    position: str
    gtid_set: str
    timestamp: Seconds | None
    complete: bool
    tables: dict[str, MarkedTable] = field(default_factory=dict)


def load_marker(storage: Storage) -> Marker | None:
    """Return the marker, None where nothing was published. Raises SnapshotError where it is damaged."""
    text = storage.read(MARKER)
    if text is None:
        return None
    try:
        return build(Marker, loads(text))
    except Mismatch as error:
        raise SnapshotError(f"{MARKER} is damaged: {error}", file=storage.root,
                            hint="publish into another directory") from error


def save_marker(storage: Storage, marker: Marker) -> None:
    """Write it. Errors: OSError."""
    storage.write(MARKER, orjson.dumps(marker, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
