"""Which units a batch concerns: those that have a key of it in their range, no other."""

import itertools

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from applier.apply.spec import KeyRange
from applier.apply.tables.unit_ranges import UnitRanges
from applier.columns.table_key import table_key
from applier.schema.ddl.ddl import parse_statement

KEYS = {kind: table_key(parse_statement(f"CREATE TABLE d.t (id {kind} PRIMARY KEY)")[0].definition)
        for kind in ("BIGINT", "VARBINARY(8)")}
NUMBERS = st.integers(-20, 20)


def edge_of(kind, number):
    """A key in its order, and the value that has it."""
    if kind == "BIGINT":
        return number, number
    value = bytes([number + 100])
    keys = KEYS[kind].encode([pa.array([value], pa.binary())])
    return keys[0], value


@given(kind=st.sampled_from(sorted(KEYS)), edges=st.sets(NUMBERS, max_size=6), data=st.data(),
       before=st.lists(NUMBERS, max_size=5), after=st.lists(NUMBERS, max_size=5))
def test_units_with_a_key_of_the_batch(kind, edges, data, before, after):
    ascending = [None, *sorted(edges), None]
    pairs = list(itertools.pairwise(ascending))
    chosen = data.draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    bounds = [[None if edge is None else edge_of(kind, edge)[0] for edge in pair] for pair in chosen]
    ranges = UnitRanges([KeyRange(KEYS[kind], low, high) for low, high in bounds])
    type_ = pa.int64() if kind == "BIGINT" else pa.binary()
    columns = [[pa.array([edge_of(kind, number)[1] for number in images], type_)] for images in (before, after)]
    assert ranges.concerned(columns) == {
        place for place, (low, high) in enumerate(chosen)
        if any((low is None or low <= number) and (high is None or number < high) for number in (*before, *after))}
