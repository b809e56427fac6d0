"""Dates that no calendar has (applier.mysql.zero_dates) as values of another type, as both servers make them: by their
text and by their digits. Of what becomes of them as other dates, '0000-00-00' stays what it is; the rest depends on
more than is known here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql import zero_dates
from applier.mysql.session import Session
from applier.mysql.types import INTEGERS, ColumnType, arrow_type
from applier.mysql.zero_dates import DATES, DAY
from applier.sql.casting import numbers
from applier.sql.casting.temporals import cut, rounds

_Convert = Callable[[pa.Array, ColumnType, ColumnType, Session], pa.Array]
_SECOND = 1_000_000
_NUMBERS = {*INTEGERS, "decimal", "float", "double", "bit"}
_SHOWN = ColumnType("longtext", charset="utf8mb4")


def converted(values: pa.Array, old: ColumnType, new: ColumnType, session: Session,
              convert: _Convert) -> pa.Array:
    """Dates of which some are none as another type; `convert` converts values of which all are something. Raises
    NotComputable."""
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
            raise NotComputable("dates that no calendar has, and not all of them 0000-00-00")
        return pa.repeat(zero_dates.zero(arrow_type(new)), len(values))
    moments = zero_dates.numbers_of(values) * (DAY if old.base == "date" else 1)
    if new.base == "time":
        return convert(pa.array(moments % DAY).cast(pa.duration("us")), replace(old, base="time"), new, session)
    if new.base in _NUMBERS:
        return _numbers(moments, old, new, session)
    if new.base == "year":
        if session.flavour == "mysql":  # the digits, which are no year
            return pa.repeat(pa.scalar(0, pa.int16()), len(values))
        year = zero_dates.parts(moments // DAY)[0]
        return pa.array(np.where((year < 1901) | (year > 2155), 0, year), pa.int16())
    texts = zero_dates.texts(values)
    if old.base != "date":
        texts = pc.utf8_slice_codeunits(texts, 0, 20 + old.fsp if old.fsp else 19)
    return convert(texts, _SHOWN, new, session)


def _numbers(moments: np.ndarray, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """YYYYMMDD, or YYYYMMDDhhmmss with a fraction that counts in a DECIMAL, FLOAT or DOUBLE."""
    if old.fsp and new.base not in ("decimal", "float", "double"):
        whole = cut(moments, _SECOND, rounds(session))
        if (whole // DAY != moments // DAY).any():
            raise NotComputable("the day after a date that no calendar has")
        moments = whole
    year, month, day = zero_dates.parts(moments // DAY)
    digits = (year * 100 + month) * 100 + day
    if old.base != "date":
        seconds = moments % DAY // _SECOND
        digits = digits * 1_000_000 + seconds // 3600 * 10000 + seconds // 60 % 60 * 100 + seconds % 60
    exact = pc.add(pa.array(digits).cast(pa.decimal128(19, 0)),
                   pc.multiply(pa.array(moments % _SECOND).cast(pa.decimal128(19, 0)), numbers.MILLIONTH))
    return numbers.to_number(exact, ColumnType("decimal", precision=26, scale=6), new, session)
