"""Types and names of a table's columns in its feed."""

from decimal import Decimal
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from applier.jobs.changes.columns import as_type, wider

_INTEGERS = {type_: (int(np.iinfo(str(type_)).min), int(np.iinfo(str(type_)).max))
             for type_ in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(),
                           pa.uint64())}
"""The least and the greatest values of types."""
_DECIMALS = {pa.decimal128(p, s): (Decimal((1, (9,) * p, -s)), Decimal((0, (9,) * p, -s)))
             for p, s in ((1, 0), (5, 2), (10, 9), (20, 0), (38, 10))}


@pytest.mark.parametrize("a, b", [*product(_INTEGERS | _DECIMALS, repeat=2)], ids=str)
def test_a_wider_type_has_all_numbers_of_both(a, b):
    if (found := wider(a, b)) is None:
        digits = [(value.precision - value.scale, value.scale) if pa.types.is_decimal(value)
                  else (len(str(_INTEGERS[value][1])), 0) for value in (a, b)]
        assert max(whole for whole, _ in digits) + max(scale for _, scale in digits) > 38
        return
    assert found == wider(b, a)
    for type_ in (a, b):
        values = pa.array((_INTEGERS | _DECIMALS)[type_], type_)
        assert [Decimal(value) for value in as_type(values, found).to_pylist()] == [
            Decimal(value) for value in values.to_pylist()]


@pytest.mark.parametrize("a, b", [(pa.int32(), pa.string()), (pa.int32(), pa.float64()), (pa.string(), pa.binary()),
                                  (pa.date32(), pa.timestamp("us")), (pa.decimal128(38, 0), pa.decimal128(38, 38)),
                                  (pa.timestamp("us"), pa.timestamp("us", tz="UTC"))])
def test_types_that_no_type_has_all_values_of(a, b):
    assert wider(a, b) is None and wider(b, a) is None


def test_floats_are_doubles():
    assert wider(pa.float32(), pa.float64()) == pa.float64() and wider(pa.float32(), pa.float32()) == pa.float32()
