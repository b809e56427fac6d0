"""The most bytes that values of a column take, in a table and in the log."""

from applier.mysql.collations import bytes_per_character
from applier.mysql.types import ColumnType

_PREFIX_BYTES = {"tiny": 1, "medium": 3, "long": 4}  # of TEXT and BLOB types, by the start of their names; else 2


def blob_prefix(base: str) -> int:
    """Bytes of the length of a TEXT or BLOB type's values in the log."""
    return next((size for start, size in _PREFIX_BYTES.items() if base.startswith(start)), 2)


def most_bytes(column_type: ColumnType) -> int:
    """The longest value of a CHAR, VARCHAR, TEXT, BINARY, VARBINARY or BLOB column in bytes."""
    if column_type.base.endswith(("text", "blob")):
        return (1 << 8 * blob_prefix(column_type.base)) - 1
    width = bytes_per_character(column_type.charset) if column_type.charset else 1
    return (1 if column_type.length is None else column_type.length) * width


def member_bytes(column_type: ColumnType) -> int:
    """Bytes of an ENUM's or a SET's number in the log."""
    n = len(column_type.members)
    if column_type.base == "enum":
        return 1 if n < 256 else 2
    return (n + 7) // 8 if n <= 32 else 8
