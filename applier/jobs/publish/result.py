"""The result of a publication."""

from __future__ import annotations

from dataclasses import dataclass

from applier.binlog.locating.place import Executed
from applier.snapshot.manifest import BinlogPosition


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """A table of the catalog: what happened to it (created, changed, unchanged, dropped), by which name it was known
    before if that is another one, how many files it has now, how many of them are new, and their bytes, how many are
    gone, and whether its columns changed."""

    name: str
    change: str
    renamed_from: str | None = None
    files: int = 0
    files_added: int = 0
    bytes_added: int = 0
    files_removed: int = 0
    columns_changed: bool = False


@dataclass(frozen=True, kw_only=True)
class Published(Executed):
    """A snapshot's tables in a catalog: at which position all stand, and whether they came there at once (`together`)
    or one after the other. Where names could not change with them, but all rows came at once, `rows_together`."""

    catalog: str
    position: str
    gtid_set: str
    tables: tuple[PublishedTable, ...]
    together: bool
    rows_together: bool
    seconds: float


@dataclass(frozen=True, kw_only=True)
class TableAsOf:
    """A table as of a position: the id of its snapshot in Iceberg, or its version in Delta; its location for readers,
    the metadata file or the directory; and the position of its last published change up to there."""

    name: str
    id: int
    place: str
    position: str


@dataclass(frozen=True, kw_only=True)
class PublishedAsOf:
    """The tables of a catalog as of a position: the position of all of them, and for people notes about unknown
    facts."""

    catalog: str
    position: BinlogPosition
    tables: tuple[TableAsOf, ...]
    notes: tuple[str, ...]
