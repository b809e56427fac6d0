"""A view over files, for any dialect of SQL."""

from __future__ import annotations

from dataclasses import dataclass

from applier.mysql.names import folded


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
    """A view to make: its columns, and where its files are; over a history's, a function besides. `dead` are files of
    positions, the rows at which in `files` do not count."""

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
