"""The digits with which MariaDB's functions show doubles that functions make: as many behind the point as ROUND gave
them, or as the operands have.

Source: behaviour of MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import MEMBERS, NUMBERS, TEMPORAL, ColumnType
from applier.mysql.versions import is_since
from applier.sql.casting import shown_numbers
from applier.sql.casting.number_texts import WITHOUT_NEGATIVE_ZERO
from applier.sql.casting.texts import by_distinct
from applier.sql.values import Arguments, Value, as_number

MOST_SCALE = 30
"""The largest scale of MySQL's DECIMAL; MariaDB's is larger."""


def shown_with(scale: int | None, made: Value, session: Session) -> Value:
    """Doubles that MariaDB's functions show with so many digits behind the point; a column of text has all of them."""
    if session.flavour == "mysql" or not pa.types.is_floating(made.values.type) or scale is None or scale > MOST_SCALE:
        return made
    exact = by_distinct(made.values, lambda one: f"{Decimal(repr(one)):.{scale}f}")
    if not exact.equals(by_distinct(made.values, lambda one: f"{one:.{scale}f}")):
        return replace(made, shows=False)  # the digits behind those that tell it from others
    return replace(made, type=ColumnType("double", precision=22, scale=scale),
                   shown=shown_numbers.computed(made.values, session.flavour))


def scale_of_doubles(arguments: Arguments, session: Session) -> int | None:
    """The digits behind the point of MariaDB's sums and products of doubles: the most of any operand; None if one has
    no number of its own."""
    if session.flavour == "mysql":
        return None
    scales = [_scale_of(value, session) for value in arguments]
    return None if None in scales else max(scale or 0 for scale in scales)


def _scale_of(value: Value, session: Session) -> int | None:
    if value.type.base in ("double", "float"):
        return value.type.scale
    if value.type.base in TEMPORAL:
        return value.type.fsp
    if value.type.base not in {*NUMBERS, *MEMBERS, "year"}:
        return None
    return int(as_number(value, session).type.scale)


def without_negative_zero(made: pa.Array, session: Session, *, constant: bool) -> pa.Array:
    """Doubles as MariaDB stores and shows them: without -0, which 10.5 has, but not of all constants. Raises
    NotComputable for -0 if the version is not known, and for such a constant."""
    if session.flavour == "mysql" or "-0.0" not in map(str, made.unique().to_pylist()):
        return made
    if session.server_version and is_since(session.server_version, WITHOUT_NEGATIVE_ZERO):
        return pc.add(made, 0.0)
    if not session.server_version or constant:
        raise NotComputable("a double of -0, which depends on the version of MariaDB")
    return made
