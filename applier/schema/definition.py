"""A table definition: its columns, keys and defaults at one position, as plain data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypeVar

import pyarrow as pa

from applier.io.typed_json import build, plain
from applier.mysql.names import folded
from applier.mysql.types import arrow_type, quote_name
from applier.schema import definition_checks
from applier.schema.allowed import check_definition
from applier.schema.table_options import TABLE_OPTIONS, options_sql
from applier.schema.table_parts import Column, Key, KeyPart, TableParts

_Made = TypeVar("_Made")
SEQUENCE = "SEQUENCE"
"""The engine of MariaDB sequences, which are not tables."""


@dataclass(frozen=True)
class TableDefinition(TableParts):
    """A table: columns in their order (which is the order of the row images), and keys in the server's. Raises
    SchemaError where a part is nothing that a server has."""

    def __post_init__(self) -> None:
        check_definition(self)

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"

    def once(self, make: "Callable[[TableDefinition], _Made]") -> "_Made":
        """Return the result of `make` for this definition, which is computed once."""
        if make not in self._made:
            self._made[make] = make(self)
        made: _Made = self._made[make]
        return made

    @cached_property
    def _made(self) -> dict[Any, Any]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: derived values are computed on demand."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def stored_columns(self) -> tuple[Column, ...]:
        """The columns that a snapshot stores: all but VIRTUAL ones."""
        return tuple(column for column in self.columns if column.generated != "virtual")

    @cached_property
    def row_keys(self) -> tuple[Key, ...]:
        """The keys that find and distinguish rows: unique keys of a versioned table also contain its row_end."""
        if self.versioning is None:
            return self.keys
        end = self.versioning.row_end
        return tuple(_with_row_end(key, end) for key in self.keys)

    @cached_property
    def shown(self) -> "TableDefinition":
        """The table as a reader sees it: without hidden columns, and of a versioned table the current rows."""
        if self.versioning is None:
            return self
        end, columns = folded(self.versioning.row_end), self.columns
        keys = tuple(replace(key, parts=tuple(part for part in key.parts if folded(part.column or "") != end))
                     if key.kind in ("primary", "unique") and len(key.parts) > 1 else key for key in self.keys)
        return replace(self, columns=tuple(column for column in columns if not self.versioning.hides(column.name)),
                       keys=keys, versioning=None, partitioning=None)

    @property
    def is_sequence(self) -> bool:
        """True for a MariaDB sequence, whose one row a snapshot does not hold."""
        return self.engine == SEQUENCE

    @property
    def primary_key(self) -> Key | None:
        return next((key for key in self.keys if key.kind == "primary"), None)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {folded(column.name): index for index, column in enumerate(self.columns)}

    def column_index(self, name: str) -> int:
        """Return the index of a column in `columns`, whatever the case of its name; KeyError if there is none."""
        return self._positions[folded(name)]

    def column(self, name: str) -> Column:
        """Return the column of a name, in whatever case; KeyError if there is none."""
        return self.columns[self.column_index(name)]

    def to_sql(self, *, if_not_exists: bool = False) -> str:
        """Return a CREATE TABLE that makes this table, in the flavour's own syntax; TIMESTAMP defaults are in UTC."""
        lines = [self._column_sql(column) for column in self.columns
                 if self.versioning is None or not self.versioning.hides(column.name)]
        lines += [key.sql(self.flavour) for key in self.keys]
        lines += [key.sql() for key in self.foreign_keys]
        lines += [check.sql() for check in self.checks]
        if self.versioning is not None and not self.versioning.hidden:
            names = quote_name(self.versioning.row_start), quote_name(self.versioning.row_end)
            lines.append(f"PERIOD FOR SYSTEM_TIME ({', '.join(names)})")
        options = [f"ENGINE={self.engine}"] if self.engine else []
        options += [f"AUTO_INCREMENT={self.first_number}"] if self.first_number > 1 else []
        options.append(f"DEFAULT CHARSET={self.charset}")
        options += [f"COLLATE={self.collation}"] if self.collation else []
        options += options_sql(self.options, TABLE_OPTIONS)
        body = ",\n  ".join(lines)
        options += ["WITH SYSTEM VERSIONING"] if self.versioning else []
        options += [self.partitioning.sql()] if self.partitioning else []
        name = f"{'IF NOT EXISTS ' * if_not_exists}{quote_name(self.database)}.{quote_name(self.name)}"
        return f"CREATE TABLE {name} (\n  {body}\n) {' '.join(options)}"

    def in_databases(self, names: Mapping[str, str]) -> "TableDefinition":
        """The same table where databases have other names, its own and those of tables that it refers to."""
        keys = tuple(replace(key, database=names.get(key.database, key.database)) for key in self.foreign_keys)
        return replace(self, database=names.get(self.database, self.database), foreign_keys=keys)

    def _column_sql(self, column: Column) -> str:
        if self.versioning is None:
            return column.sql(self.flavour)
        if not self.versioning.has(column.name):
            return column.sql(self.flavour, self.versioning.of_column(column.name).strip())
        words = f"{quote_name(column.name)} {column.type.sql(self.flavour)}{self.versioning.of_column(column.name)}"
        return words + " INVISIBLE" * column.invisible

    def to_json(self) -> dict[str, Any]:
        """Return the definition as plain dicts, lists and scalars, for the manifest."""
        fields: dict[str, Any] = plain(self)
        return fields

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "TableDefinition":
        """Return the definition in a document that `to_json` made. Raises Mismatch if it is not a definition, or is one
        that no server could have."""
        return build(cls, data)

    def complaint(self) -> str:
        """Return an error that no CREATE TABLE could have; "" for none."""
        return definition_checks.complaint(self)


def _with_row_end(key: Key, end: str) -> Key:
    named = {folded(part.column) for part in key.parts if part.column is not None}
    if key.kind not in ("primary", "unique") or folded(end) in named:
        return key
    return replace(key, parts=(*key.parts, KeyPart(end)))


def table_schema(definition: TableDefinition) -> pa.Schema:
    """Return the Arrow schema of a table in a snapshot: all columns but the VIRTUAL ones."""
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in definition.stored_columns])


def without_rows(schema: pa.Schema) -> pa.Table:
    """Return a table that has no rows, for each unit of a table one: Schema.empty_table takes 20 times as long."""
    return pa.Table.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
