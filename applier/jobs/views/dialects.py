"""Views in DuckDB's SQL and in Spark's, with MySQL's column comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from applier.errors import UsageError
from applier.jobs.views.sources import AsOf, View, ViewColumn

_FILE = "_applier_file"
"""The column with a row's file, where rows of files are left out."""


class Dialect(Protocol):
    """How a kind of SQL says it."""

    def takes(self, name: str) -> bool:
        """Return whether a database or a view can have a name."""
        ...

    def database(self, name: str) -> str:
        """Return a statement that makes a database where there is none."""
        ...

    def view(self, view: View) -> str:
        """Return the statements that make a view."""
        ...

    def as_of(self, view: View, as_of: AsOf) -> str:
        """Return a statement that makes the function over a view of a history."""
        ...


class DuckDb:
    """Views in DuckDB, in a catalog of this name, if it has one."""

    def __init__(self, catalog: str = "") -> None:
        self._in = f"{self._name(catalog)}." if catalog else ""

    def takes(self, name: str) -> bool:
        """Return whether a database or a view can have a name."""
        return True

    def database(self, name: str) -> str:
        """Return a statement that makes a database where there is none."""
        return f"CREATE SCHEMA IF NOT EXISTS {self._in}{self._name(name)};\n"

    def view(self, view: View) -> str:
        """Return the statements that make a view."""
        name = f"{self._in}{self._name(view.database)}.{self._name(view.name)}"
        made = (f"CREATE OR REPLACE VIEW {name} AS SELECT {', '.join(map(self._column, view.columns))}\n"
                f"  FROM {self._rows(view)};\n")
        return made + "".join(f"COMMENT ON COLUMN {name}.{self._name(column.name)} IS {self._text(column.comment)};\n"
                              for column in view.columns if column.comment)

    def as_of(self, view: View, as_of: AsOf) -> str:
        """Return a statement that makes the function over a view of a history."""
        database = f"{self._in}{self._name(view.database)}"
        return (f"CREATE OR REPLACE MACRO {database}.{self._name(as_of.name)}({as_of.argument}) AS TABLE\n"
                f"  SELECT {', '.join(self._name(column.name) for column in as_of.columns)}\n"
                f"  FROM {database}.{self._name(view.name)} {_valid_at(as_of.argument)};\n")

    def _rows(self, view: View) -> str:
        if not view.dead:
            return self._files(view.files)
        return (f"{self._files(view.files, f', filename = {self._text(_FILE)}, file_row_number = true')} AS stored\n"
                f"  ANTI JOIN {self._files(view.dead)} AS dead\n"
                f"  ON dead.position = stored.file_row_number AND dead.file = parse_filename(stored.{_FILE}, true)")

    def _files(self, paths: Sequence[str], more: str = "") -> str:
        files = ",\n    ".join(self._text(_escaped(path)) for path in paths)
        return f"read_parquet([\n    {files}], hive_partitioning = false{more})"

    def _column(self, column: ViewColumn) -> str:
        name = self._name(column.name)
        return f"to_microseconds({name}) AS {name}" if column.is_time else name

    @staticmethod
    def _name(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    @staticmethod
    def _text(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"


class _SparkSql:
    """A file or a glob of a folder's files as a table."""

    def takes(self, name: str) -> bool:
        return re.fullmatch(r"[0-9A-Za-z_]+", name) is not None

    def database(self, name: str) -> str:
        return f"CREATE DATABASE IF NOT EXISTS {self._name(name)};\n"

    def view(self, view: View) -> str:
        if view.dead:
            raise UsageError("the lake merges on read, and views in Spark's SQL cannot omit single rows of files",
                             table=f"{view.database}.{view.name}",
                             hint="make views for DuckDB with --dialect duckdb, or read the table with to_arrow()")
        columns = ", ".join(self._name(column.name) + (f" COMMENT {self._text(column.comment)}" * bool(column.comment))
                            for column in view.columns)
        values = ", ".join(map(self._value, view.columns))
        rows = "\n  UNION ALL ".join(f"SELECT {values} FROM parquet.{self._name(path)}"
                                     for path in self._paths(view.files))
        return (f"CREATE OR REPLACE VIEW {self._name(view.database)}.{self._name(view.name)} ({columns}) AS\n"
                f"  {rows};\n")

    def as_of(self, view: View, as_of: AsOf) -> str:
        database = self._name(view.database)
        return (f"CREATE OR REPLACE FUNCTION {database}.{self._name(as_of.name)}({as_of.argument} BIGINT) "
                "RETURNS TABLE RETURN\n"
                f"  SELECT {', '.join(self._name(column.name) for column in as_of.columns)}\n"
                f"  FROM {database}.{self._name(view.name)} {_valid_at(as_of.argument)};\n")

    @staticmethod
    def _paths(files: Sequence[str]) -> Iterator[str]:
        folders: dict[str, list[str]] = {}
        for path in files:
            folder, _, name = path.rpartition("/")
            folders.setdefault(folder, []).append(name)
        for folder, names in folders.items():
            parts = [_unglobbed(name) for name in names]
            yield f"{_unglobbed(folder)}/{parts[0] if len(parts) == 1 else '{' + ','.join(parts) + '}'}"

    def _value(self, column: ViewColumn) -> str:
        name = self._name(column.name)
        if not column.is_time:
            return name
        return f"make_dt_interval(0, 0, 0, CAST({name} / 1000000BD AS DECIMAL(18, 6))) AS {name}"

    @staticmethod
    def _name(name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    @staticmethod
    def _text(text: str) -> str:
        return "'" + text.translate(_SPARK_ESCAPES) + "'"


_SPARK_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"})
"""Spark's command line drops lines that begin with "--", in texts, too."""


def _valid_at(argument: str) -> str:
    """Return which versions are valid at a commit version."""
    return f"WHERE _from_seq <= {argument} AND (_to_seq IS NULL OR _to_seq > {argument})"


def _escaped(path: str) -> str:
    """Return a path that DuckDB does not treat as a pattern."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)


def _unglobbed(path: str) -> str:
    """Return a part of a path that Spark does not treat as a pattern."""
    return "".join(f"\\{char}" if char in "*?[]{}\\" else char for char in path)


DIALECTS: dict[str, Dialect] = {"duckdb": DuckDb(), "spark": _SparkSql()}
