"""Keys by the rules of their columns: which part of a column counts, and by which collation its strings are compared.

A rule is a text, as manifests have it: the collation, "" if bytes are compared, and then "(n)" if only the first n
characters (of binary columns: bytes) are in the key, as in "utf8mb4_general_ci(10)". Without rules, whole columns are
compared byte for byte.
"""

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from keysearch.collation import compares_bytes, equality_column, equality_keys
from keysearch.keybytes import KeyBytes, encode_keys

Column: TypeAlias = pa.Array | pa.ChunkedArray


def key_rule(collation: str | None, prefix: int | None) -> str:
    """The rule of one column, without a collation that compares bytes or is unknown."""
    name = "" if collation is None or compares_bytes(collation) else collation
    return name if prefix is None else f"{name}({prefix})"


def encode_by_rules(columns: Sequence[Column], rules: Sequence[str]) -> KeyBytes:
    """The composite key of each row, as `encode_keys` gives it, by these rules: bytes are equal where a server takes
    the keys to be equal. Errors: those of `encode_keys`."""
    if not rules:
        return encode_keys(columns)
    columns = [ruled_prefix(column, rule) for column, rule in zip(columns, rules, strict=True)]
    collations = [_parsed(rule)[0] for rule in rules]
    if len(columns) == 1 and collations[0] and not columns[0].null_count:
        return equality_keys(columns[0], collations[0])
    return encode_keys([equality_column(column, collation) if collation else column
                        for column, collation in zip(columns, collations, strict=True)])


def ruled_prefix(column: Column, rule: str) -> Column:
    """The part of a column that counts by a rule."""
    prefix = _parsed(rule)[1]
    if prefix is None:
        return column
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return (pc.utf8_slice_codeunits if is_text else pc.binary_slice)(column, 0, prefix)


@cache
def _parsed(rule: str) -> tuple[str, int | None]:
    collation, _, prefix = rule.partition("(")
    return collation, int(prefix.removesuffix(")")) if prefix else None
