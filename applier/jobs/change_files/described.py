"""Metadata of files of changes and versions about their tables: MySQL's names, types and comments, in Parquet
footers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import orjson

from applier.io.typed_json import build, loads
from applier.schema.ddl.schema_changes import TableName
from applier.schema.table_parts import Column

MANIFEST = "_changes.json"
"""Which file of a directory has which table's changes."""
KEY = b"applier.table"
"""In the file's own metadata: a DescribedTable as JSON."""


@dataclass(frozen=True)
class DescribedColumn:
    """A column of the table; `type` is as information_schema has it: "time(3)"."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True)
class DescribedTable:
    """The table of a file's rows. The file's other columns describe each row."""

    database: str
    name: str
    columns: tuple[DescribedColumn, ...]

    @classmethod
    def of(cls, table: TableName, columns: Mapping[str, Column]) -> DescribedTable:
        """Return a table whose columns have these names in the file."""
        return cls(*table, tuple(DescribedColumn(name, column.type.column_type, column.comment)
                                 for name, column in columns.items()))

    @classmethod
    def parse(cls, metadata: Mapping[bytes, bytes]) -> DescribedTable:
        """Read a file's metadata. Raises Mismatch, and KeyError if they have no description."""
        return build(cls, loads(metadata[KEY]))

    def metadata(self) -> dict[bytes, bytes]:
        """Return the metadata for a file."""
        return {KEY: orjson.dumps(asdict(self))}
