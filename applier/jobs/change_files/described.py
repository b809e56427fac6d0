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
    """The table that a file's rows are of. What the file has besides these columns is said of each row."""

    database: str
    name: str
    columns: tuple[DescribedColumn, ...]

    @classmethod
    def of(cls, table: TableName, columns: Mapping[str, Column]) -> DescribedTable:
        """A table whose columns have these names in the file."""
        return cls(*table, tuple(DescribedColumn(name, column.type.column_type, column.comment)
                                 for name, column in columns.items()))

    @classmethod
    def parse(cls, metadata: Mapping[bytes, bytes]) -> DescribedTable:
        """What a file's metadata say. Raises Mismatch, and KeyError where they say nothing."""
        return build(cls, loads(metadata[KEY]))

    def metadata(self) -> dict[bytes, bytes]:
        """What the metadata of a file are to say."""
        return {KEY: orjson.dumps(asdict(self))}
