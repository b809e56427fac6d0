"""Numbers as text, as the servers write them."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.types import ColumnType
from applier.mysql.values.value_texts import exact_texts
from applier.sql.casting.texts import by_distinct

_PLAIN = 15
"""Doubles of more digits before the point, all of them zeros at the end, are written with an exponent."""
_PLAIN_FLOAT = 12
"""The same of a FLOAT in MySQL."""
_LONGEST = 20
"""Characters of a small double that surely are written without one."""


def shown(values: pa.Array, old: ColumnType, flavour: str) -> pa.Array:
    """Numbers as the servers write them."""
    if pa.types.is_floating(values.type):
        if old.scale is not None:
            return by_distinct(values, lambda number: f"{number:.{old.scale}f}")
        if old.base == "double":
            return by_distinct(values, lambda number: _written(number, repr(number), _PLAIN))
        plain = _PLAIN_FLOAT if flavour == "mysql" else _PLAIN
        return by_distinct(values, lambda number: _written(number, f"{number:.5e}", plain))  # six digits
    text = exact_texts(values)
    if old.base == "year":
        return pc.utf8_lpad(text, 4, "0")
    if old.zerofill:
        if not old.entry.digits:
            raise NotComputable("these numbers' zeros")
        return pc.utf8_lpad(text, old.length or old.entry.digits, "0")
    return text


def _written(number: float, text: str, plain: int) -> str:
    """A number without an exponent, or, where it is very large or small, with one."""
    if number == 0:
        return "-0" if str(number).startswith("-") else "0"
    sign, digits, exponent = Decimal(text).as_tuple()
    written = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + int(exponent)
    minus = "-" * sign
    if (point > plain and len(written) <= point) or point < 1 - _PLAIN:
        return f"{minus}{written[0]}{'.' * (len(written) > 1)}{written[1:]}e{point - 1}"
    if point <= 0:
        if len(written) - point + 2 > min(_LONGEST, plain):
            raise NotComputable(f"the text of {number!r}")
        return f"{minus}0.{'0' * -point}{written}"
    whole, fraction = written[:point].ljust(point, "0"), written[point:]
    return minus + whole + "." * bool(fraction) + fraction
