"""The parts of a table's definition as plain data: columns, defaults, keys, and all of them together."""

import re
from dataclasses import dataclass, field

from applier.io.typed_json import Count
from applier.mysql.types import ColumnType, quote_name, quote_text
from applier.schema.checks import Check
from applier.schema.foreign_keys import ForeignKey
from applier.schema.partitions import Partitioning
from applier.schema.table_options import KEY_OPTIONS, Options, options_sql
from applier.schema.versioning import Versioning

_INTRODUCED = re.compile(r"_\w+ [xX]'[0-9a-f]*'")
"""A literal's bytes with their character set: SQL counts it as an expression, but DEFAULT takes it without parentheses.
"""


@dataclass(frozen=True, slots=True)
class Default:
    """A column's DEFAULT clause.

    `kind` says what `text` is: "null" (nothing), "string" (the characters), "number" (its digits as written), "bytes"
    (hexadecimal digits, of b'…', 0x… and MySQL's X'…'), "now" (CURRENT_TIMESTAMP, with its precision), "expression"
    (SQL).
    A TIMESTAMP's literal is kept in UTC, or as "local" where the log says only that it is in the server's own zone.
    """

    kind: str
    text: str = ""

    def sql(self) -> str:
        """Return the text after DEFAULT."""
        if self.kind == "null":
            return "NULL"
        if self.kind in ("string", "local"):
            return quote_text(self.text)
        if self.kind == "bytes":  # MariaDB reads X'…' as a string, others as a number where a number is expected
            return f"0x{self.text}" if self.text else "b''"
        if self.kind == "expression" and not _INTRODUCED.fullmatch(self.text):
            return f"({self.text})"
        return self.text


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `generated` is None, "stored" or "virtual"; `expression` is then the SQL in the parentheses. `id` is
    its number (applier.schema.column_ids), which is not part of its identity; 0 while it has none. `check` is the SQL
    in its CHECK constraint's parentheses, in MariaDB, where a column may have one of its own."""

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
        """Return the column as in CREATE TABLE, for a server of this flavour; `versioned` are words of system
        versioning."""
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
class TableParts:
    """The parts of a table.

    `charset` and `collation` are the table's defaults; every column with characters has its own. `first_number` is the
    smallest number that AUTO_INCREMENT gives the next row. `other_charsets`: the source's table may have other
    character sets, because the statement that made it was logged without them (applier.schema.ddl.create_table).
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
    other_charsets: bool = False
