"""The directories of tables below the root of Delta tables: DB/TABLE, in characters that no reader changes.

deltalake takes a "%" for the start of an encoded byte, and Polars looks for "%20" where a space is; so here bytes of
other characters than letters, digits, "-" and "_" are "~" and two hexadecimal digits.
"""

import hashlib
import re

_LONGEST = 200
"""Of a name in bytes; file systems allow 255."""
_OTHERS = re.compile(r"[^0-9A-Za-z_-]|^_")  # what begins with "_" is hidden from Spark


def folder_of(database: str, table: str) -> str:
    """The directory of a table; no other table has it."""
    return f"{_name(database)}/{_name(table)}"


def _name(name: str) -> str:
    made = _OTHERS.sub(lambda found: "".join(f"~{byte:02X}" for byte in found[0].encode()), name)
    if len(made) <= _LONGEST:
        return made
    return f"{made[:_LONGEST - 17]}~{hashlib.blake2b(made.encode(), digest_size=8).hexdigest()}"
