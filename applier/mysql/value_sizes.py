"""The most bytes that values of a column take, in a table and in the log."""

from applier.mysql.character_sets.collations import bytes_per_character
from applier.mysql.types import ColumnType


def most_bytes(column_type: ColumnType) -> int:
    """The longest value of a CHAR, VARCHAR, TEXT, BINARY, VARBINARY or BLOB column in bytes."""
    if prefix := column_type.entry.prefix:
        return (1 << 8 * prefix) - 1
    width = bytes_per_character(column_type.charset) if column_type.charset else 1
    return (1 if column_type.length is None else column_type.length) * width


def member_bytes(column_type: ColumnType) -> int:
    """Bytes of an ENUM's or a SET's number in the log."""
    n = len(column_type.members)
    if column_type.base == "enum":
        return 1 if n < 256 else 2
    return (n + 7) // 8 if n <= 32 else 8
