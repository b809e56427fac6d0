"""The views to make of a snapshot, a directory of changes, or a history: each a name over files, for any
SQL dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from applier.errors import UsageError
from applier.io.resolver import absolute, join, read_text, resolve
from applier.io.typed_json import Mismatch, build, loads
from applier.jobs.change_files.described import MANIFEST, DescribedTable
from applier.jobs.history import listing as history
from applier.jobs.history.listing import HistoryFiles
from applier.mysql.names import folded
from applier.mysql.type_registry import TYPES, Family
from applier.schema.table_filter import TableFilter
from applier.schema.table_parts import Column
from applier.snapshot.files.shards import columns_of
from applier.snapshot.manifest import Snapshot


@dataclass(frozen=True)
class ViewColumn:
    """A column of the files. TIME, which Parquet has as a number, is an interval in a view."""

    name: str
    comment: str = ""
    is_time: bool = False


@dataclass(frozen=True)
class AsOf:
    """A function of a commit version: of the table's rows there, these columns."""

    name: str
    columns: tuple[ViewColumn, ...]

    @property
    def argument(self) -> str:
        """Its argument's name, which no column has."""
        names, argument = {folded(column.name) for column in self.columns}, "seq"
        while argument in names:
            argument += "_"
        return argument


@dataclass(frozen=True)
class View:
    """A view to create: its columns, and its files; over a history's, also a function. `dead` are files of positions;
    the rows at these in `files` do not count."""

    database: str
    name: str
    columns: tuple[ViewColumn, ...]
    files: tuple[str, ...]
    as_of: AsOf | None = None
    dead: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All that get a name in the database."""
        return (self.name,) if self.as_of is None else (self.name, self.as_of.name)


_OF_HISTORIES = "_from_seq"
"""A column that histories have, and changes have not."""


@dataclass(frozen=True)
class _ChangeFile:
    """An entry of the list of a directory of changes."""

    table: str
    file: str
    rows: int
    key: tuple[str, ...]


@dataclass(frozen=True)
class _ChangeFiles:
    """The list."""

    format: str
    tables: tuple[_ChangeFile, ...]


def of_snapshot(snapshot: Snapshot, filter: TableFilter) -> Iterator[View]:
    """Yield a view of each table; of a system-versioned one a second view, NAME_history, of all rows, past ones
    included."""
    root = absolute(snapshot.root)
    for table in snapshot.tables:
        if not filter.wanted(table.database, table.name):
            continue
        definition = table.definition
        dead = tuple(join(root, file.path) for file in table.positions)
        for name, files, columns in ((table.name, table.files, definition.shown.stored_columns),
                                     (f"{table.name}_history", table.history, definition.stored_columns)):
            if files:
                paths = tuple(join(root, path) for path in columns_of(files).paths)
                paths += tuple(join(root, file.path) for file in table.row_files)
                yield View(table.database, name, tuple(map(_of_column, columns)), paths, dead=dead)


def of_changes(folder: str, filter: TableFilter) -> Iterator[View]:
    """Yield a view NAME_changes of each table in a directory that `applier changes` wrote. Raises UsageError."""
    try:
        listed = build(_ChangeFiles, loads(read_text(join(folder, MANIFEST)).encode()))
    except Mismatch as mismatch:
        raise UsageError(f"it is not a list of changes: it {mismatch}", file=join(folder, MANIFEST)) from None
    if listed.format != "parquet":
        raise UsageError(f"these changes are files of {listed.format}, and views are over Parquet's", file=folder,
                         hint="write them with --format parquet")
    for entry in listed.tables:
        yield from of_file(join(absolute(folder), entry.file), filter)


def of_history(folder: str, filter: TableFilter) -> Iterator[View]:
    """Return the view of a directory of versions, NAME_history, and its function, NAME_as_of. Raises UsageError for
    another list of files."""
    try:
        listed = build(HistoryFiles, loads(read_text(join(folder, history.MANIFEST)).encode()))
    except Mismatch as mismatch:
        raise UsageError(f"it is not a list of versions: it {mismatch}", file=join(folder, history.MANIFEST)) from None
    paths = tuple(join(absolute(folder), entry.file) for entry in listed.files)
    table, columns = _described(paths[0])
    if filter.wanted(table.database, table.name):
        own = {column.name for column in table.columns}
        yield View(table.database, f"{table.name}_history", columns, paths,
                   AsOf(f"{table.name}_as_of", tuple(column for column in columns if column.name in own)))


def of_file(path: str, filter: TableFilter) -> Iterator[View]:
    """Yield the view of a Parquet file of changes, NAME_changes. Raises UsageError for another file."""
    table, columns = _described(path)
    own = {column.name for column in table.columns}
    if any(column.name == _OF_HISTORIES and column.name not in own for column in columns):
        raise UsageError("it is one of several files of a history", file=path, hint="name the directory that it is in")
    if filter.wanted(table.database, table.name):
        yield View(table.database, f"{table.name}_changes", columns, (absolute(path),))


def _described(path: str) -> tuple[DescribedTable, tuple[ViewColumn, ...]]:
    """Return the table that a Parquet file describes, and the columns of a view of it. Raises UsageError if it
    describes none."""
    filesystem, path_there = resolve(path)
    try:
        footer = pq.read_metadata(path_there, filesystem=filesystem)
        table = DescribedTable.parse(_metadata(footer))
    except (OSError, pa.ArrowInvalid, KeyError, Mismatch):
        raise UsageError("it is not Parquet that says of which table its rows are", file=path,
                         hint="name what `applier history` or `applier changes` wrote") from None
    known = {column.name: ViewColumn(column.name, column.comment, _is_time(column.type.partition("(")[0]))
             for column in table.columns}
    return table, tuple(known.get(name, ViewColumn(name)) for name in footer.schema.to_arrow_schema().names)


def _metadata(footer: pq.FileMetaData) -> Mapping[bytes, bytes]:
    found: Mapping[bytes, bytes] | None = footer.metadata
    return found or {}


def _of_column(column: Column) -> ViewColumn:
    return ViewColumn(column.name, column.comment, _is_time(column.type.base))


def _is_time(base: str) -> bool:
    return base in TYPES and TYPES[base].family is Family.TIME
