"""Numbers, dates and times of Arrow columns as the texts that servers read back, whole columns at once: in decimal
digits, dates and times as ISO texts. Null stays null.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.mysql.values import value_texts_kernel as kernels
from applier.mysql.values.byte_columns import validity
from keysearch.addresses import address_of


def exact_texts(values: pa.Array) -> pa.Array:
    """Integers and DECIMALs as all their digits: Arrow's own cast writes small decimals with an exponent, 0E-8 among
    them. DECIMALs of more digits than Arrow has are texts already."""
    if pa.types.is_integer(values.type):
        return _number_texts(kernels.INTEGERS, values, kernels.LONGEST_INTEGER)
    return _decimal_texts(values) if pa.types.is_decimal(values.type) else values


def year_texts(values: pa.Array) -> pa.Array:
    """Years as four digits: 0 is not 2000."""
    return _number_texts(kernels.YEARS, values, kernels.LONGEST_INTEGER)


def date_texts(values: pa.Array) -> pa.Array:
    """Dates as YYYY-MM-DD, datetimes as YYYY-MM-DD hh:mm:ss.ffffff, by the zone that they are kept in; those that are
    no dates (applier.mysql.values.zero_dates) as the servers show them."""
    if pa.types.is_date32(values.type):
        return _number_texts(kernels.DATES, values, kernels.LONGEST_DATE)
    return _number_texts(kernels.DATETIMES, values.cast(pa.timestamp("us", values.type.tz)), kernels.LONGEST_DATETIME)


def time_texts(values: pa.Array) -> pa.Array:
    """TIMEs as [-]hh:mm:ss.ffffff, hours up to 838."""
    return _number_texts(kernels.TIMES, values, kernels.LONGEST_TIME)


def _decimal_texts(values: pa.Array) -> pa.Array:
    out, offsets, scratch = _room(values, kernels.LONGEST_DECIMAL)
    valid, data = _memory(values)
    size = kernels.decimal_texts(_address(data), values.type.byte_width, values.type.scale, _address(valid),
                                 values.offset, len(values), address_of(scratch), address_of(out), address_of(offsets))
    return _made(values, out, offsets, size)


def _number_texts(kind: int, values: pa.Array, longest: int) -> pa.Array:
    out, offsets, _ = _room(values, longest)
    is_signed = not pa.types.is_unsigned_integer(values.type)
    valid, data = _memory(values)
    size = kernels.number_texts(kind, _address(data), values.type.byte_width, is_signed, _address(valid),
                                values.offset, len(values), address_of(out), address_of(offsets))
    return _made(values, out, offsets, size)


def _room(values: pa.Array, longest: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if longest * len(values) > np.iinfo(np.int32).max:
        raise pa.ArrowCapacityError(f"texts of {len(values)} values in one column; take fewer rows at once")
    return (np.empty(longest * len(values), np.uint8), np.empty(len(values) + 1, np.int32),
            np.empty(kernels.SCRATCH_BYTES, np.uint8))


def _memory(values: pa.Array) -> tuple[pa.Buffer | None, pa.Buffer | None]:
    """Return the validity bitmap, None if nothing is null, and the values."""
    valid, data = values.buffers()
    return valid if values.null_count else None, data


def _address(buffer: pa.Buffer | None) -> int:
    return 0 if buffer is None else address_of(buffer)


def _made(values: pa.Array, out: np.ndarray, offsets: np.ndarray, size: int) -> pa.Array:
    buffers = [validity(values), pa.py_buffer(offsets), pa.py_buffer(out[:size])]
    return pa.Array.from_buffers(pa.string(), len(values), buffers, values.null_count)
