"""Records that are packed say just what they said."""

import pickle
from dataclasses import dataclass
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.binlog.outline import packed
from applier.binlog.outline.packed import Packed


@dataclass
class Record:
    number: int
    text: str | bytes
    said: dict[str, int | str] | None
    is_first: bool = False


NUMBERS = st.integers() | st.integers(-2**63, 2**63 - 1) | st.integers(0, 200) | st.sampled_from([2**63 - 1, -2**63])
RECORDS = st.lists(st.builds(Record, NUMBERS, st.text() | st.binary(),
                             st.none() | st.dictionaries(st.text(), NUMBERS | st.text(), max_size=3), st.booleans()))


@given(RECORDS, st.integers(1, 7), st.integers(0, 5), st.booleans())
def test_it_is_the_list(items, block, few, is_sent):
    """In blocks of any size, with columns of steps or without, before and after it has been sent."""
    with mock.patch.multiple(packed, BLOCK=block, FEW=few):
        found = Packed(Record)
        for item in items:
            found.append(item)
            assert len(found) and found[-1] == item
        assert found == items
        found.pack()
        if is_sent:
            found = pickle.loads(pickle.dumps(found))
        assert found == items and [*found] == items and len(found) == len(items) and found == Packed(Record, items)
        assert [found[place] for place in range(-len(items), len(items))] == items * 2
        assert found[1:3] == items[1:3] and repr(found) == repr(items)
        for place in (len(items), -len(items) - 1):
            with pytest.raises(IndexError):
                found[place]


@given(st.lists(st.integers(-2**63, 2**63 - 1), min_size=packed.FEW, max_size=packed.FEW + 8))
def test_numbers_of_any_size(numbers):
    """Their differences may need a bit more than they do."""
    found = Packed(Record, [Record(number, "", None) for number in numbers])
    assert [record.number for record in found] == numbers


def test_records_that_are_alike_need_little_room():
    """And records do not wait unpacked for a block to be full."""
    items = [Record(90 * n, f"3e11fa47-71ca-11e1-9e33-c80aa9429562:{n}", {"sql_mode": 1 << 21, "time_zone": "SYSTEM"})
             for n in range(10_000)]
    assert len(pickle.dumps(Packed(Record, items))) < 8 * len(items) < len(pickle.dumps(items)) / 4
    few = Packed(Record, items[:10])
    assert len(pickle.dumps(few)) < len(pickle.dumps(items[:10]))
