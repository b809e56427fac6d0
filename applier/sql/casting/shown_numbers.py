"""Numbers as text, as the servers write them."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.types import ColumnType
from applier.mysql.values.value_texts import exact_texts
from applier.sql.casting.texts import by_distinct

_DIGITS = 17
"""Significant digits that tell each double from the others."""
_FLOAT_DIGITS = 6
_FLOAT_WIDTH = 12
"""Characters that MySQL has for a FLOAT."""
_WIDTHS = {"mysql": 24, "mariadb": 331}
"""Characters that servers have for a DOUBLE."""
_COMPUTED_WIDTH = 22
"""Those that MySQL has for one that is no column's, and to which a ZEROFILL column's is filled up."""
_MOST_ZEROS = 15
"""Doubles with more zeros before or after their digits are written with an exponent."""


def shown(values: pa.Array, old: ColumnType, flavour: str) -> pa.Array:
    """Numbers as the servers write them."""
    if pa.types.is_floating(values.type):
        text = _floating(values, old, flavour)
        width = old.precision or (_FLOAT_WIDTH if old.base == "float" else _COMPUTED_WIDTH)
        return pc.utf8_lpad(text, width, "0") if old.zerofill else text
    text = exact_texts(values)
    if old.base == "year":
        return pc.utf8_lpad(text, 4, "0")
    if old.zerofill:
        if not old.entry.digits:
            raise NotComputable("these numbers' zeros")
        return pc.utf8_lpad(text, old.length or old.entry.digits, "0")
    return text


def _floating(values: pa.Array, old: ColumnType, flavour: str) -> pa.Array:
    if old.scale is not None:
        return by_distinct(values, lambda number: _fixed(number, old.scale or 0))
    if old.base == "double":
        return by_distinct(values, lambda number: written(number, _WIDTHS[flavour]))
    width = _FLOAT_WIDTH if flavour == "mysql" else _WIDTHS[flavour]
    return by_distinct(values, lambda number: written(number, width, _FLOAT_DIGITS))


def _fixed(number: float, scale: int) -> str:
    """A number with so many decimals: zeros after the fewest digits that tell it from other doubles."""
    fewest = Decimal(repr(number))
    return f"{fewest:.{scale}f}" if -int(fewest.as_tuple().exponent) <= scale else f"{number:.{scale}f}"


def computed(values: pa.Array, flavour: str) -> pa.Array:
    """Doubles that are the values of expressions, as the servers write them."""
    width = _COMPUTED_WIDTH if flavour == "mysql" else _WIDTHS[flavour]
    return by_distinct(values, lambda number: written(number, width))


def written(number: float, width: int, most: int = _DIGITS) -> str:
    """A number in no more than `width` characters, with as many digits as there is room for: without an exponent, or,
    where it has many zeros or more digits fit so, with one."""
    if number == 0:
        return "-0" if str(number).startswith("-") else "0"
    minus, number, room = "-" * (number < 0), abs(number), width - (number < 0)
    digits, point = _significant(number, min(room, most))
    exponent = 1 + (point >= 101 or point <= -99) + (point >= 11 or point <= -9)  # its digits
    size = len(digits) - point + 2 if point <= 0 else len(digits) + 1 if point < len(digits) else point
    is_forced = point <= 0 and 3 + exponent <= room <= 2 - point
    if (-_MOST_ZEROS < point <= _MOST_ZEROS or len(digits) > point > 0) if size <= room else (
            point <= room and not is_forced and point >= -2):
        room -= (point < len(digits)) + (1 - point if point <= 0 else 0)
        if room < len(digits):
            digits, point = _behind_point(number, max(room, point) - point)
        return (minus + _plain(digits, point))[:width] if digits else "0"
    room -= 1 + exponent + (point < 1) + (len(digits) > 1)
    if room < len(digits):
        digits, point = _significant(number, max(room, 1))
    return f"{minus}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1}"[:width]


def _plain(digits: str, point: int) -> str:
    if point <= 0:
        return f"0.{'0' * -point}{digits}"
    return digits[:point].ljust(point, "0") + "." * (len(digits) > point) + digits[point:]


def _significant(number: float, most: int) -> tuple[str, int]:
    """The fewest digits that tell a number from others, no more than `most` of them, and the place of the point."""
    digits, point = _parts(repr(number))
    return (digits, point) if len(digits) <= most else _parts(f"{number:.{max(most, 1) - 1}e}")


def _behind_point(number: float, most: int) -> tuple[str, int]:
    """The same with no more than `most` digits behind the point."""
    return _parts(f"{number:.{most}f}")


def _parts(text: str) -> tuple[str, int]:
    _, digits, exponent = Decimal(text).as_tuple()
    written = "".join(map(str, digits))
    significant = written.lstrip("0")
    return significant.rstrip("0"), len(significant) + int(exponent)
