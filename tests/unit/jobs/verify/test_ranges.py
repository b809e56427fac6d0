"""How tables are divided into ranges, and what names become in statements. That servers put the same rows into them is
in tests/recorded/verify."""

import pytest

import applier
from applier.jobs.verify import plan as planning
from applier.jobs.verify.result import DifferentRow, DifferentTable
from applier.jobs.verify.rows import key_texts, keys_of
from applier.snapshot import manifest
from applier.snapshot.reader import read_batches
from tests.support.diffs import snapshot_of

DUMP = r"""-- Server version 9.7
CREATE DATABASE d;
CREATE TABLE d.big (id BIGINT UNSIGNED PRIMARY KEY);
INSERT INTO d.big VALUES (0), (1), (9223372036854775807), (9223372036854775808), (18446744073709551615);
CREATE TABLE d.tenants (tenant INT, id INT, PRIMARY KEY (tenant, id));
INSERT INTO d.tenants VALUES (1,1), (1,2), (1,3), (1,4), (1,5), (1,6), (1,7), (1,8), (2,1), (2,2);
CREATE TABLE d.words (w VARCHAR(9) PRIMARY KEY);
INSERT INTO d.words VALUES ('a'), ('b'), ('c');
CREATE TABLE d.plain (n INT);
INSERT INTO d.plain VALUES (1), (1), (1);
CREATE TABLE d.empty (w VARCHAR(9) PRIMARY KEY);
CREATE TABLE d.`o'd``d	\n` (`a``b 'c"` INT PRIMARY KEY);
INSERT INTO d.`o'd``d	\n` VALUES (1), (2), (3);
"""


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    (folder / "dump.sql").write_text(DUMP)
    applier.import_dump(folder / "dump.sql", folder / "snapshot")
    return folder / "snapshot"


@pytest.fixture
def tables(snapshot, monkeypatch):
    """The tables by their names, in ranges of two rows."""
    monkeypatch.setattr(planning, "RANGE_ROWS", 2)
    return {table.entry.name: table for table in planning.plan(manifest.load(str(snapshot))).tables}


def _conditions(table) -> list[str]:
    return [table.condition(number) for number in range(table.ranges)]


def test_integers_divide_a_table_at_every_so_many_rows(tables):
    """Unsigned ones too, beyond what an int64 has; the first and the last range have no end."""
    assert _conditions(tables["big"]) == [
        "`id` < 9223372036854775807", "`id` >= 9223372036854775807 AND `id` < 18446744073709551615",
        "`id` >= 18446744073709551615"]


def test_a_key_that_begins_with_few_integers_is_divided_by_hashes(tables):
    """Else a range could be the whole table, whose rows are fetched if one of them differs."""
    table = tables["tenants"]
    assert (table.bounds, table.buckets) == ((), 5)
    assert [condition.rpartition(" = ")[2] for condition in _conditions(table)] == list("01234")
    assert all("`tenant`" in condition and "`id`" in condition for condition in _conditions(table))


def test_other_keys_and_rows_without_one_are_divided_by_hashes(tables):
    assert (tables["words"].buckets, tables["plain"].buckets, tables["empty"].ranges) == (2, 2, 1)
    assert tables["plain"].row_hash in tables["plain"].condition(0)


def test_a_small_table_is_one_range(snapshot):
    assert [_conditions(table) for table in planning.plan(manifest.load(str(snapshot))).tables] == 6 * [[""]]


def test_names_are_quoted_and_come_back_as_plain_characters(tables):
    """A client writes a tab or a line's end in a name in its own way."""
    [odd] = [table for name, table in tables.items() if name.startswith("o'd")]
    assert _conditions(odd)[0] == "`a``b 'c\"` < 3"
    assert odd.label.startswith("d/o%27d%60d%09") and odd.label.isascii()


def test_no_table(snapshot):
    with pytest.raises(applier.UsageError, match="no table of the snapshot is selected"):
        applier.verify_sql(snapshot, tables="e")


def test_keys_with_invalid_dates(tmp_path):
    """By the keys of different rows a feed is filtered. Python's types have no invalid dates, so these are text."""
    snapshot = manifest.load(snapshot_of(tmp_path / "made", "CREATE TABLE d.t (k DATETIME(3), d DATE, PRIMARY KEY (k))",
                                         [("0000-00-00", "2024-02-31"), ("2024-02-30 01:00:00", "0000-00-00")]).uri)
    [table], [entry] = planning.plan(snapshot).tables, snapshot.tables
    [batch] = read_batches(snapshot.root, entry.files[0], table.definition)
    texts = key_texts(table.columns[:1], batch.columns[:1]).to_pylist()
    for here in (True, False):
        rows = [DifferentRow("here", 0, key, here=batch.slice(number, 1) if here else None)
                for number, key in enumerate(texts)]
        found = [str(key)[:16] for [key] in keys_of(DifferentTable(table, (), rows=tuple(rows)))]
        assert found == ["0000-00-00 00:00", "2024-02-30 01:00"]
