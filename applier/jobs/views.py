"""Writes SQL that makes a view of each table of a snapshot, over its files, for DuckDB or Spark SQL.

A view has the table's columns in their order, with MySQL's comments. TIME, which Parquet has as a number, is an
interval. Of a system-versioned table there is a second view, NAME_history, of all rows, past ones included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from applier.errors import UsageError
from applier.io.printable import printable
from applier.io.resolver import absolute, join
from applier.mysql.type_registry import Family
from applier.schema.definition import Column, TableDefinition
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot.manifest import Snapshot
from applier.snapshot.shards import columns_of

DIALECTS = ("duckdb", "spark")


@dataclass(frozen=True)
class _View:
    """A view to make: its columns, and where its files are."""

    database: str
    name: str
    columns: tuple[Column, ...]
    files: tuple[str, ...]


class _Dialect(Protocol):
    def takes(self, name: str) -> bool: ...

    def database(self, name: str) -> str: ...

    def view(self, view: _View) -> str: ...


def views(snapshot: Snapshot, dialect: str, filter: TableFilter = EVERYTHING) -> Iterator[str]:
    """The statements, one after the other. Raises UsageError for another dialect, for names that it does not take, and
    where it cannot tell two apart."""
    if dialect not in _DIALECTS:
        raise UsageError(f"{dialect!r} is not a dialect", hint=f"it is one of {', '.join(DIALECTS)}")
    writer = _DIALECTS[dialect]
    found = list(_views(snapshot, filter))
    known: dict[tuple[str, str], _View] = {}
    for view in found:
        if not (writer.takes(view.database) and writer.takes(view.name)):
            raise UsageError(f"{dialect} takes no view of this name: {view.database}.{view.name}",
                             hint="leave it out with --ignore-tables, and read its files")
        other = known.setdefault((view.database.lower(), view.name.lower()), view)
        if other is not view:
            both = f"{other.database}.{other.name} and {view.database}.{view.name}"
            raise UsageError(f"{dialect} takes {both} for one view", hint="leave one of them out with --ignore-tables")
    yield f"-- {printable(f'{snapshot.uri} at {snapshot.position}')}\n"
    yield from map(writer.database, dict.fromkeys(view.database for view in found))
    yield from map(writer.view, found)


def _views(snapshot: Snapshot, filter: TableFilter) -> Iterator[_View]:
    root = absolute(snapshot.uri)
    for table in snapshot.tables:
        if not filter.wanted(table.database, table.name):
            continue
        definition = TableDefinition.from_json(table.definition)
        for name, files, columns in ((table.name, table.files, definition.shown.stored_columns),
                                     (f"{table.name}_history", table.history, definition.stored_columns)):
            if files:
                paths = tuple(join(root, path) for path in columns_of(files).paths)
                yield _View(table.database, name, columns, paths)


class _DuckDb:
    """`read_parquet` of a list of files."""

    def takes(self, name: str) -> bool:
        return True

    def database(self, name: str) -> str:
        return f"CREATE SCHEMA IF NOT EXISTS {self._name(name)};\n"

    def view(self, view: _View) -> str:
        name = f"{self._name(view.database)}.{self._name(view.name)}"
        files = ",\n    ".join(self._text(_escaped(path)) for path in view.files)
        made = (f"CREATE OR REPLACE VIEW {name} AS SELECT {', '.join(map(self._column, view.columns))}\n"
                f"  FROM read_parquet([\n    {files}], hive_partitioning = false);\n")
        return made + "".join(f"COMMENT ON COLUMN {name}.{self._name(column.name)} IS {self._text(column.comment)};\n"
                              for column in view.columns if column.comment)

    def _column(self, column: Column) -> str:
        name = self._name(column.name)
        return f"to_microseconds({name}) AS {name}" if column.type.entry.family is Family.TIME else name

    @staticmethod
    def _name(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    @staticmethod
    def _text(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"


class _SparkSql:
    """A file or a glob of a folder's files as a table; names of a snapshot's own files mean nothing in a glob."""

    def takes(self, name: str) -> bool:
        return re.fullmatch(r"[0-9A-Za-z_]+", name) is not None

    def database(self, name: str) -> str:
        return f"CREATE DATABASE IF NOT EXISTS {self._name(name)};\n"

    def view(self, view: _View) -> str:
        columns = ", ".join(self._name(column.name) + (f" COMMENT {self._text(column.comment)}" * bool(column.comment))
                            for column in view.columns)
        values = ", ".join(map(self._value, view.columns))
        rows = "\n  UNION ALL ".join(f"SELECT {values} FROM parquet.{self._name(place)}"
                                     for place in self._places(view.files))
        return (f"CREATE OR REPLACE VIEW {self._name(view.database)}.{self._name(view.name)} ({columns}) AS\n"
                f"  {rows};\n")

    @staticmethod
    def _places(files: Sequence[str]) -> Iterator[str]:
        folders: dict[str, list[str]] = {}
        for path in files:
            folder, _, name = path.rpartition("/")
            folders.setdefault(folder, []).append(name)
        for folder, names in folders.items():
            escaped = "".join(f"\\{char}" if char in "*?[]{}\\" else char for char in folder)
            yield f"{escaped}/{names[0] if len(names) == 1 else '{' + ','.join(names) + '}'}"

    def _value(self, column: Column) -> str:
        name = self._name(column.name)
        if column.type.entry.family is not Family.TIME:
            return name
        return f"make_dt_interval(0, 0, 0, CAST({name} / 1000000BD AS DECIMAL(18, 6))) AS {name}"

    @staticmethod
    def _name(name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    @staticmethod
    def _text(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _escaped(path: str) -> str:
    """A path that DuckDB takes as it is, and for no pattern."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)


_DIALECTS: dict[str, _Dialect] = dict(zip(DIALECTS, (_DuckDb(), _SparkSql()), strict=True))
