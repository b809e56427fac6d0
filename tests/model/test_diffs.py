"""`applier.diff` against dicts and multisets of rows."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

import applier
from applier.jobs.diff import multisets
from tests.support.diffs import expected_by_key, found, snapshot_of
from tests.support.examples import examples
from tests.support.folded_changes import rows_of

TEXTS = st.text(st.sampled_from("aAbBéE ßß\0z"), max_size=4)
VALUES = st.tuples(st.none() | TEXTS, st.sampled_from([None, 0.0, 0.1, 1e300]), st.none() | st.binary(max_size=3),
                   st.sampled_from([None, "0000-00-00", "2024-02-01", "2024-02-30"]))
COLUMNS = "v VARCHAR(9), f DOUBLE, b VARBINARY(9), d DATE"
FEW = settings(max_examples=examples(40), deadline=None)


def compared(create, sides, file_bytes=64 << 20):
    """The diff of two tables of these rows, and the rows of both as a snapshot has them."""
    with TemporaryDirectory() as folder:
        made = [snapshot_of(Path(folder) / name, create, rows, file_bytes=file_bytes)
                for name, rows in zip(("before", "after"), sides, strict=True)]
        table = applier.diff(*made).tables["d.t"]
        return table, found(table), [rows_of(side.tables["d.t"].to_arrow(), side.tables["d.t"].schema.names)
                                     for side in made]


@FEW
@given(st.lists(st.dictionaries(st.integers(-9, 99), VALUES), min_size=2, max_size=2), st.sampled_from([300, 64 << 20]))
def test_rows_with_a_number_as_key(sides, file_bytes):
    rows = [[(key, *values) for key, values in side.items()] for side in sides]
    table, differences, read = compared(f"CREATE TABLE d.t (id INT PRIMARY KEY, {COLUMNS})", rows, file_bytes)
    if any(date in ("0000-00-00", "2024-02-30") for side in rows for *_, date in side):
        read = [[(repr(key), *map(repr, values)) for key, *values in side] for side in rows]
        assert [counter.total() for counter in expected_by_key(*read, lambda row: row[0])] == [
            counter.total() for counter in differences]  # Arrow shows them as null
    else:
        assert differences == expected_by_key(*read, lambda row: row[0])
    assert table.same == (Counter(rows[0]) == Counter(rows[1]) and repr(sorted(rows[0])) == repr(sorted(rows[1])))


KEYS = st.lists(st.tuples(st.text("aAbBzé", max_size=3), st.binary(max_size=2)), unique_by=lambda key: (
    key[0].lower().replace("é", "e"), key[1]))


@FEW
@given(KEYS, KEYS, st.sampled_from([300, 64 << 20]))
def test_keys_that_a_collation_takes_as_equal(before, after, file_bytes):
    """Their own bytes are values: 'A' that becomes 'a' is a change."""
    rows = [[(text, data, None) for text, data in side] for side in (before, after)]
    table, differences, read = compared(
        "CREATE TABLE d.t (k VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, b VARBINARY(9), x INT, "
        "PRIMARY KEY (k, b))", rows, file_bytes)
    assert differences == expected_by_key(*read, lambda row: (eval(row[0]).lower().replace("é", "e"), row[1]))
    assert table.key == ("k", "b")


ROWS = st.lists(st.tuples(st.sampled_from([None, 0, 1]), st.sampled_from([None, "", "a", "A", "a "]),
                          st.sampled_from([0.0, -0.0, None])), max_size=12)


@FEW
@given(ROWS, ROWS, st.sampled_from([1, 1 << 30]))
def test_rows_without_a_key_are_a_multiset(before, after, part_bytes):
    """However many parts they are compared in."""
    with mock.patch.object(multisets, "PART_BYTES", part_bytes):
        table, (removed, added, changed), read = compared(
            "CREATE TABLE d.t (n INT, t VARCHAR(9), f DOUBLE)", (before, after))
    left, right = map(Counter, read)
    assert (removed, added, changed) == (left - right, right - left, Counter())
    assert table.key == ()
