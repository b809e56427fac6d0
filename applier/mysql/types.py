"""Column types as MySQL and MariaDB name them, and the Arrow types of their values in a snapshot."""

from dataclasses import dataclass

import pyarrow as pa

from applier.mysql.type_registry import TYPES, Family, TypeEntry, types_of

INTEGERS = {name: entry.bits for name, entry in TYPES.items() if entry.family is Family.INTEGER}
NUMBERS = types_of(Family.INTEGER, Family.DECIMAL, Family.FLOATING, Family.BIT)
TEXT = types_of(Family.TEXT)
MEMBERS = types_of(Family.MEMBERS)
CHARACTER = TEXT | MEMBERS
BINARY = types_of(Family.BYTES)
GEOMETRY = types_of(Family.GEOMETRY)
NETWORK = types_of(Family.NETWORK)
DATES = types_of(Family.DATE, Family.DATETIME)
FRACTIONAL = types_of(Family.DATETIME, Family.TIME)
TEMPORAL = DATES | FRACTIONAL
BASES = frozenset(TYPES)
"""All types of columns, as `ColumnType.base` names them."""
# Spark's and Parquet's decimals end at 38 digits; wider ones are kept as text.
MAX_ARROW_DIGITS = 38


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A column's data type, synonyms resolved: `base` is one of the lower-case names that information_schema shows.

    `length` is characters (CHAR, VARCHAR), bytes (BINARY, VARBINARY), bits (BIT), dimensions (VECTOR), or an integer's
    display width where one was given; `precision` and `scale` are those of DECIMAL, or of FLOAT(M,D) and DOUBLE(M,D);
    `fsp` is the number of fractional digits of a temporal type. `charset` and `collation` are set for the types with
    characters only (JSON is text without a choice of either).
    """

    base: str
    unsigned: bool = False
    zerofill: bool = False
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    fsp: int = 0
    charset: str | None = None
    collation: str | None = None
    members: tuple[str, ...] = ()
    compressed: bool = False
    srid: int | None = None

    @property
    def entry(self) -> TypeEntry:
        """The attributes of all columns of the type. Raises KeyError for a base that no type of either server has."""
        return TYPES[self.base]

    @property
    def column_type(self) -> str:
        """The type without character set and attributes, as information_schema.columns.column_type shows it."""
        text = self.base
        if self.members:
            text += "(" + ",".join("'" + member.replace("'", "''") + "'" for member in self.members) + ")"
        elif self.precision is not None:
            text += f"({self.precision})" if self.scale is None else f"({self.precision},{self.scale})"
        elif self.length is not None:
            text += f"({self.length})"
        elif self.fsp:
            text += f"({self.fsp})"
        return text + " unsigned" * self.unsigned + " zerofill" * self.zerofill

    def sql(self, flavour: str = "mysql") -> str:
        """The type as DDL: what follows the column's name in that flavour's CREATE TABLE."""
        text = self.column_type
        if self.members:
            text = f"{self.base}({','.join(map(quote_text, self.members))})"
        if self.compressed:
            text += " COMPRESSED"
        if self.charset is not None:
            text += f" CHARACTER SET {self.charset}"
        if self.collation is not None:
            text += f" COLLATE {self.collation}"
        if self.srid is not None:
            text += f" REF_SYSTEM_ID={self.srid}" if flavour == "mariadb" else f" SRID {self.srid}"
        return text


def arrow_type(column_type: ColumnType) -> pa.DataType:
    """The Arrow (and so Parquet) type of a column's values in a snapshot: the "Values" table of the design.

    Raises KeyError for a base that no type of either server has.
    """
    entry = TYPES[column_type.base]
    if entry.family is Family.DECIMAL:
        precision = 10 if column_type.precision is None else column_type.precision
        if precision > MAX_ARROW_DIGITS:
            return pa.string()
        return pa.decimal128(precision, column_type.scale or 0)
    if entry.family is Family.BIT and column_type.length == 64:
        return pa.decimal128(20, 0)
    if column_type.unsigned and entry.unsigned_arrow is not None:
        return entry.unsigned_arrow
    return entry.arrow


def quote_text(text: str) -> str:
    """A string literal, on one line, that reads back equal with backslash escapes on (both servers' default). A client
    that reads a file may drop a CR before a line feed, or stop at Ctrl-Z, so these are escaped."""
    return "'" + text.translate(_ESCAPES) + "'"


_ESCAPES = str.maketrans({"\\": "\\\\", "'": "''", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\x1a": "\\Z"})


def quote_name(name: str) -> str:
    """An identifier in backquotes."""
    return "`" + name.replace("`", "``") + "`"
