"""Converts invalid dates (applier.mysql.zero_dates) to other types, as both servers do: by their text and by their
digits. Among dates, only the conversion of '0000-00-00' is known: it stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql import zero_dates
from applier.mysql.session import Session
from applier.mysql.types import DATES, NUMBERS, ColumnType, arrow_type
from applier.mysql.zero_dates import DAY
from applier.sql.casting import numbers
from applier.sql.casting.temporals import cut, rounds

_Convert = Callable[[pa.Array, ColumnType, ColumnType, Session], pa.Array]
_SECOND = 1_000_000
_SHOWN = ColumnType("longtext", charset="utf8mb4")


def converted(values: pa.Array, old: ColumnType, new: ColumnType, session: Session,
              convert: _Convert) -> pa.Array:
    """Dates, some of them invalid, as another type; `convert` converts the valid ones. Raises NotComputable."""
    none = zero_dates.which(values)
    real = convert(zero_dates.as_nulls(values), old, new, session)
    made = _converted(values.filter(pa.array(none)), old, new, session, convert)
    picks = np.arange(len(values))
    picks[none] = len(values) + np.arange(len(made))
    return pa.concat_arrays([real, made]).take(pa.array(picks))


def _converted(values: pa.Array, old: ColumnType, new: ColumnType, session: Session,
               convert: _Convert) -> pa.Array:
    if new.base in DATES:
        if not zero_dates.are_zero(values).all():
            raise NotComputable("invalid dates other than 0000-00-00")
        return pa.repeat(zero_dates.zero(arrow_type(new)), len(values))
    instants = zero_dates.numbers_of(values) * (DAY if old.base == "date" else 1)
    if new.base == "time":
        return convert(pa.array(instants % DAY).cast(pa.duration("us")), replace(old, base="time"), new, session)
    if new.base in NUMBERS:
        return _numbers(instants, old, new, session)
    if new.base == "year":
        if session.flavour == "mysql":  # the digits, which are not a year
            return pa.repeat(pa.scalar(0, pa.int16()), len(values))
        year = zero_dates.parts(instants // DAY)[0]
        return pa.array(np.where((year < 1901) | (year > 2155), 0, year), pa.int16())
    texts = zero_dates.texts(values)
    if old.base != "date":
        texts = pc.utf8_slice_codeunits(texts, 0, 20 + old.fsp if old.fsp else 19)
    return convert(texts, _SHOWN, new, session)


def _numbers(instants: np.ndarray, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Dates as the numbers YYYYMMDD, or YYYYMMDDhhmmss with a fraction in a DECIMAL, FLOAT or DOUBLE."""
    if old.fsp and new.base not in ("decimal", "float", "double"):
        whole = cut(instants, _SECOND, rounds(session))
        if (whole // DAY != instants // DAY).any():
            raise NotComputable("the day after an invalid date")
        instants = whole
    year, month, day = zero_dates.parts(instants // DAY)
    digits = (year * 100 + month) * 100 + day
    if old.base != "date":
        seconds = instants % DAY // _SECOND
        digits = digits * 1_000_000 + seconds // 3600 * 10000 + seconds // 60 % 60 * 100 + seconds % 60
    exact = pc.add(pa.array(digits).cast(pa.decimal128(19, 0)),
                   pc.multiply(pa.array(instants % _SECOND).cast(pa.decimal128(19, 0)), numbers.MILLIONTH))
    return numbers.to_number(exact, ColumnType("decimal", precision=26, scale=6), new, session)
