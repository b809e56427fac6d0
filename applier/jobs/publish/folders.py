"""Names of the directories of published tables, with only characters that no reader changes.

deltalake decodes "%", Polars looks for "%20" instead of a space, and pyiceberg ends a path at "?" or "#". So bytes of
characters other than letters, digits, "-" and "_" are "~" and two hexadecimal digits."""

from __future__ import annotations

import hashlib
import re

_LONGEST = 200
"""Of a name in bytes; file systems allow 255."""
_OTHERS = re.compile(r"[^0-9A-Za-z_-]|^_")  # names that begin with "_" are hidden from Spark


def folder_of(database: str, table: str) -> str:
    """The directory of a table; no other table has it."""
    return f"{_name(database)}/{_name(table)}"


def _name(name: str) -> str:
    made = _OTHERS.sub(lambda found: "".join(f"~{byte:02X}" for byte in found[0].encode()), name)
    if len(made) <= _LONGEST:
        return made
    return f"{made[:_LONGEST - 17]}~{hashlib.blake2b(made.encode(), digest_size=8).hexdigest()}"
