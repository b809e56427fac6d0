"""Which columns of the log a replica converts to columns of another type, and which setting that needs.

The rules are those of replica_type_conversions (MariaDB: slave_type_conversions; MySQL manual, "Replication with
Differing Table Definitions on Source and Replica"), as real servers showed them: only types of one family, and within
it the longer type is the one with more room in the log, not the one that holds all values of the other.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from applier.mysql.character_sets.collations import bytes_per_character
from applier.mysql.type_registry import TYPES, Family
from applier.mysql.types import BINARY, FRACTIONAL, INTEGERS, TEXT, ColumnType
from applier.mysql.value_sizes import member_bytes, most_bytes
from applier.mysql.wire_types import COMPRESSED, WireType

INTEGER_BITS: dict[int, int] = {TYPES[name].wire[0]: bits for name, bits in INTEGERS.items()}
BLOBS, VARCHARS = frozenset(TYPES["blob"].wire), frozenset(TYPES["varbinary"].wire)
NEW_TEMPORAL: dict[int, str] = {TYPES[name].wire[0]: name for name in FRACTIONAL}
_STRINGS = {WireType.STRING} | VARCHARS | BLOBS
_NUMBERS = {WireType.NEWDECIMAL, WireType.FLOAT, WireType.DOUBLE}
_REAL_LENGTH: dict[int | str, int] = {WireType.FLOAT: 12, WireType.DOUBLE: 22, "float": 12, "double": 22}
"""The width of a number in characters, by which the servers compare FLOAT with DOUBLE."""


class Step(enum.Enum):
    """The kind of a conversion, which is what must be allowed."""

    NON_LOSSY = "all_non_lossy"
    LOSSY = "all_lossy"


@dataclass(frozen=True)
class TypeConversions:
    """The allowed conversions. `unsigned`: converted integers are read as unsigned, whatever they are."""

    non_lossy: bool = False
    lossy: bool = False
    unsigned: bool = False

    @classmethod
    def of(cls, names: frozenset[str]) -> TypeConversions:
        """From the names of the server's option, in lower case; all_signed is the default, and wins."""
        unsigned = "all_unsigned" in names and "all_signed" not in names
        return cls("all_non_lossy" in names, "all_lossy" in names, unsigned)

    @property
    def any(self) -> bool:
        """True if columns may differ at all."""
        return self.non_lossy or self.lossy

    def allow(self, step: Step) -> bool:
        return self.non_lossy if step is Step.NON_LOSSY else self.lossy

    def reads_unsigned(self, column_type: ColumnType, flavour: str) -> bool:
        """Return whether an integer in the log that is converted to another integer is read as unsigned: a MariaDB
        replica reads it as its own column's sign says."""
        return self.unsigned or (flavour == "mariadb" and column_type.unsigned)


NONE_ALLOWED = TypeConversions()


def step_between(wire_type: int, metadata: int, column_type: ColumnType, flavour: str) -> Step | None:
    """Return how a column of the log is converted to the table's type; None if it cannot be."""
    base = column_type.base
    if wire_type in INTEGER_BITS and base in INTEGERS:
        return _order(INTEGER_BITS[wire_type], INTEGERS[base])
    if wire_type in _NUMBERS and column_type.entry.family in (Family.DECIMAL, Family.FLOATING):
        return _number_step(wire_type, metadata, column_type)
    if wire_type == WireType.BIT and base == "bit":
        return _order((metadata >> 8) * 8 + (metadata & 0xFF), column_type.length or 1)
    if wire_type in (WireType.ENUM, WireType.SET) and base == WireType(wire_type).name.lower():
        return _order(metadata, member_bytes(column_type))
    if wire_type in _STRINGS and base in TEXT | BINARY:
        own = most_bytes(column_type)
        if base in TEXT and column_type.entry.prefix:  # the servers count each byte as a character
            own *= bytes_per_character(column_type.charset or "utf8mb4")
        return _order(logged_bytes(wire_type, metadata), own)
    return _temporal_step(wire_type, metadata, column_type) if flavour == "mariadb" else None


def _number_step(wire_type: int, metadata: int, column_type: ColumnType) -> Step:
    if column_type.base == "decimal" and wire_type == WireType.NEWDECIMAL:
        logged, own = (metadata >> 8, metadata & 0xFF), (column_type.precision or 10, column_type.scale or 0)
        return Step.LOSSY if logged > own else Step.NON_LOSSY
    if column_type.base == "decimal" or wire_type == WireType.NEWDECIMAL:
        return Step.LOSSY
    digits = column_type.precision if column_type.scale is not None else None
    return _order(_REAL_LENGTH[wire_type], _REAL_LENGTH[column_type.base] if digits is None else digits)


def _temporal_step(wire_type: int, metadata: int, column_type: ColumnType) -> Step | None:
    """Only MariaDB converts datetimes; it takes a log without fractional digits for one that does not tell them."""
    base = column_type.base
    if wire_type in NEW_TEMPORAL and base == NEW_TEMPORAL[wire_type] and metadata:
        return _order(metadata, column_type.fsp)
    if wire_type in (WireType.DATE, WireType.NEWDATE) and base == "datetime":
        return Step.NON_LOSSY
    return Step.LOSSY if wire_type == WireType.DATETIME2 and base == "date" else None


def logged_bytes(wire_type: int, metadata: int) -> int:
    """Return the longest value of a column with characters or bytes in the log."""
    if wire_type in BLOBS:
        return (1 << 8 * metadata) - 1
    return metadata - 1 if wire_type == WireType.VARCHAR_COMPRESSED else metadata


def _order(logged: int, own: int) -> Step:
    """Compare types by their lengths; different types of one length are a conversion, too."""
    return Step.LOSSY if logged > own else Step.NON_LOSSY


def type_in_log(wire_type: int, metadata: int, unsigned: bool | None = None) -> str:
    """Return a column's type as far as a TABLE_MAP event describes it, in the words of the servers' error 1677."""
    name = WireType(wire_type).name.lower()
    if wire_type in INTEGER_BITS:
        name = next(name for name in INTEGERS if TYPES[name].wire[0] == wire_type)
    elif wire_type == WireType.NEWDECIMAL:
        name = f"decimal({metadata >> 8},{metadata & 0xFF})"
    elif wire_type == WireType.BIT:
        name = f"bit({(metadata >> 8) * 8 + (metadata & 0xFF)})"
    elif wire_type == WireType.STRING:
        name = f"char({metadata}(bytes))"
    elif wire_type in VARCHARS:
        name = f"varchar({logged_bytes(wire_type, metadata)}(bytes))"
    elif wire_type in BLOBS:
        name = {1: "tinyblob", 2: "blob", 3: "mediumblob", 4: "longblob"}.get(metadata, "blob")
    elif wire_type in NEW_TEMPORAL:
        name = f"{NEW_TEMPORAL[wire_type]}({metadata})"
    elif wire_type in (WireType.ENUM, WireType.SET):
        name = f"{name} of {metadata} bytes"
    if wire_type in COMPRESSED:
        name += " compressed"
    return re.sub(r"^newdate$", "date", name) + " unsigned" * bool(unsigned)
