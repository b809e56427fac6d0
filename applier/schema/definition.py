"""What a table is: its columns, keys and defaults at one position, as plain data."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeVar

import pyarrow as pa

from applier.io.typed_json import Count, build, plain
from applier.mysql.names import folded
from applier.mysql.types import ColumnType, arrow_type, quote_name, quote_text
from applier.schema import definition_checks
from applier.schema.allowed import check_definition
from applier.schema.checks import Check
from applier.schema.foreign_keys import ForeignKey
from applier.schema.partitions import Partitioning
from applier.schema.table_options import KEY_OPTIONS, TABLE_OPTIONS, Options, options_sql
from applier.schema.versioning import Versioning

_Made = TypeVar("_Made")
_INTRODUCED = re.compile(r"_\w+ x'[0-9a-f]*'")
"""A literal's bytes with their character set: SQL counts it as an expression, but DEFAULT takes it without parentheses.
"""
SEQUENCE = "SEQUENCE"
"""The engine of MariaDB sequences, which are not tables."""


@dataclass(frozen=True, slots=True)
class Default:
    """A column's DEFAULT clause.

    `kind` says what `text` is: "null" (nothing), "string" (the characters), "number" (its digits as written), "bytes"
    (hexadecimal digits, of b'…' and x'…' literals), "now" (CURRENT_TIMESTAMP, with its precision), "expression" (SQL).
    A TIMESTAMP's literal is kept in UTC, or as "local" where the log says only that it is in the server's own zone.
    """

    kind: str
    text: str = ""

    def sql(self) -> str:
        """The text after DEFAULT."""
        if self.kind == "null":
            return "NULL"
        if self.kind in ("string", "local"):
            return quote_text(self.text)
        if self.kind == "bytes":  # MariaDB takes x'…' for a string, 0x… for a number where one is wanted
            return f"0x{self.text}" if self.text else "x''"
        if self.kind == "expression" and not _INTRODUCED.fullmatch(self.text):
            return f"({self.text})"
        return self.text


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `generated` is None, "stored" or "virtual"; `expression` is then the SQL in the parentheses. `id` is
    its number (applier.schema.column_ids), which is no part of what it is; 0 while it has none. `check` is the SQL in
    its CHECK constraint's parentheses, in MariaDB, where a column may have one of its own."""

    name: str
    type: ColumnType
    nullable: bool = True
    default: Default | None = None
    on_update: str | None = None
    auto_increment: bool = False
    generated: str | None = None
    expression: str | None = None
    invisible: bool = False
    comment: str = ""
    check: str | None = None
    id: Count = field(default=0, compare=False)

    def sql(self, flavour: str = "mysql", versioned: str = "") -> str:
        """The column as in CREATE TABLE, for a server of this flavour; `versioned` are words of system versioning."""
        words = [quote_name(self.name), self.type.sql(flavour)]
        if self.generated:
            words.append(f"GENERATED ALWAYS AS ({self.expression}) {self.generated.upper()}")
        # TIMESTAMP needs an explicit NULL: an old server would make the column NOT NULL.
        # MariaDB allows neither of the two in a generated column.
        if not self.nullable and not (self.generated and flavour == "mariadb"):
            words.append("NOT NULL")
        elif self.type.base == "timestamp" and not self.generated:
            words.append("NULL")
        if self.default:
            words.append(f"DEFAULT {self.default.sql()}")
        if self.on_update:
            words.append(f"ON UPDATE {self.on_update}")
        if self.auto_increment:
            words.append("AUTO_INCREMENT")
        if self.invisible:
            words.append("INVISIBLE")
        if self.comment:
            words.append(f"COMMENT {quote_text(self.comment)}")
        if versioned:
            words.append(versioned)
        if self.check is not None:
            words.append(f"CHECK ({self.check})")
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A key's column, or the `expression` of a functional key part; `length` (characters, bytes) of a prefix."""

    column: str | None
    length: int | None = None
    descending: bool = False
    expression: str | None = None

    def sql(self) -> str:
        text = f"({self.expression})" if self.column is None else quote_name(self.column)
        return text + (f"({self.length})" if self.length is not None else "") + " DESC" * self.descending


@dataclass(frozen=True, slots=True)
class Key:
    """An index; `kind` is "primary", "unique", "key", "fulltext", "spatial" or "vector" (MariaDB).

    A primary key is named PRIMARY.
    """

    name: str
    kind: str
    parts: tuple[KeyPart, ...]
    visible: bool = True
    options: Options = ()

    def sql(self, flavour: str = "mysql") -> str:
        words = {"primary": "PRIMARY KEY", "key": "KEY"}.get(self.kind, f"{self.kind.upper()} KEY")
        name = "" if self.kind == "primary" else f" {quote_name(self.name)}"
        hidden = "" if self.visible else " IGNORED" if flavour == "mariadb" else " INVISIBLE"
        options = "".join(f" {option}" for option in options_sql(self.options, KEY_OPTIONS))
        return f"{words}{name} ({', '.join(part.sql() for part in self.parts)}){options}{hidden}"


@dataclass(frozen=True)
class TableDefinition:
    """A table: columns in their order (which is the order of the row images), and keys in the server's.

    `charset` and `collation` are the table's defaults; every column with characters has its own. `first_number` is
    what AUTO_INCREMENT gives the next row at the least. Raises SchemaError where a part is nothing that a server has.
    """

    database: str
    name: str
    columns: tuple[Column, ...]
    keys: tuple[Key, ...] = ()
    charset: str = "utf8mb4"
    collation: str | None = None
    engine: str | None = None
    flavour: str = "mysql"
    foreign_keys: tuple[ForeignKey, ...] = ()
    partitioning: Partitioning | None = None
    versioning: Versioning | None = None
    first_number: int = 1
    checks: tuple[Check, ...] = ()
    options: Options = ()

    def __post_init__(self) -> None:
        check_definition(self)

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"

    def once(self, make: "Callable[[TableDefinition], _Made]") -> "_Made":
        """What `make` returns for this definition, which is computed once."""
        if make not in self._made:
            self._made[make] = make(self)
        made: _Made = self._made[make]
        return made

    @cached_property
    def _made(self) -> dict[Any, Any]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what follows from them is computed where it is needed."""
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
        """The index of a column in `columns`, whatever the case of its name; KeyError if there is none."""
        return self._positions[folded(name)]

    def column(self, name: str) -> Column:
        """The column of a name, in whatever case; KeyError if there is none."""
        return self.columns[self.column_index(name)]

    def to_sql(self, *, if_not_exists: bool = False) -> str:
        """A CREATE TABLE that makes this table, in the flavour's own syntax; TIMESTAMP defaults are in UTC."""
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
        """Plain dicts, lists and scalars, for the manifest."""
        fields: dict[str, Any] = plain(self)
        return fields

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "TableDefinition":
        """The inverse of `to_json`. Raises Mismatch if it is not a definition, or not of a table that a server could
        have."""
        return build(cls, data)

    def complaint(self) -> str:
        """What is wrong with it that no CREATE TABLE could make; "" if nothing is."""
        return definition_checks.complaint(self)


def _with_row_end(key: Key, end: str) -> Key:
    named = {folded(part.column) for part in key.parts if part.column is not None}
    if key.kind not in ("primary", "unique") or folded(end) in named:
        return key
    return replace(key, parts=(*key.parts, KeyPart(end)))


def table_schema(definition: TableDefinition) -> pa.Schema:
    """The Arrow schema of a table in a snapshot: all columns but the VIRTUAL ones."""
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in definition.stored_columns])


def without_rows(schema: pa.Schema) -> pa.Table:
    """A table that has no rows, for each unit of a table one: Schema.empty_table takes 20 times as long."""
    return pa.Table.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
