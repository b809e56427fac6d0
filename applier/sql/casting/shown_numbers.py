"""Numbers as text, as the servers write them."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.types import ColumnType
from applier.sql.casting.texts import by_distinct

_PLAIN = 15
"""Doubles of more digits before the point, all of them zeros at the end, are written with an exponent."""
_PLAIN_FLOAT = 12
"""The same of a FLOAT in MySQL."""
_PLAIN_SCALE = 6
"""Arrow writes decimals of a larger one with an exponent where they are small."""
_LONGEST = 20
"""Characters of a small double that surely are written without one."""


def shown(values: pa.Array, old: ColumnType, flavour: str) -> pa.Array:
    """Numbers as the servers write them."""
    if pa.types.is_floating(values.type):
        if old.scale is not None:
            raise NotComputable("floating-point types with digits of their own as text")
        if old.base == "double":
            return by_distinct(values, lambda number: _written(number, repr(number), _PLAIN))
        plain = _PLAIN_FLOAT if flavour == "mysql" else _PLAIN
        return by_distinct(values, lambda number: _written(number, f"{number:.5e}", plain))  # six digits
    text = decimal_text(values) if pa.types.is_decimal(values.type) else pc.cast(values, pa.string())
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


def decimal_text(values: pa.Array) -> pa.Array:
    """Decimals as their digits, all of them: Arrow's own cast writes small ones with an exponent, 0E-8 among them."""
    if values.type.scale <= _PLAIN_SCALE:
        return values.cast(pa.string())
    scale, kind = values.type.scale, pa.decimal256 if pa.types.is_decimal256(values.type) else pa.decimal128
    text = values.view(kind(values.type.precision, 0)).cast(pa.string())
    sign = pc.if_else(pc.starts_with(text, "-"), "-", "")
    digits = pc.utf8_lpad(pc.utf8_ltrim(text, "-"), scale + 1, "0")
    return pc.binary_join_element_wise(sign, pc.utf8_slice_codeunits(digits, 0, -scale), ".",
                                       pc.utf8_slice_codeunits(digits, -scale), "")
