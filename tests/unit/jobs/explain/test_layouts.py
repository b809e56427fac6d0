"""Which before-images a table has, as far as an outline tells."""

import pyarrow as pa

from applier.binlog.events.table_map import parse_table_map
from applier.binlog.outline.outline_pass import outline_file
from applier.jobs.explain.layouts import BeforeImages, before_images
from applier.plan.used_tables import UsedTable
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter

COLUMNS = ("id", "a", "b")


def definition():
    [change] = parse_statement("CREATE TABLE d.t (id INT PRIMARY KEY, a INT, b INT)", server_charset="utf8mb4")
    return change.definition


def layouts(tmp_path, *groups):
    """The before-images of a log with these transactions: (columns of the before-images, of the after-images)."""
    with BinlogWriter(str(tmp_path / "binlog.000001")) as log:
        for before, after in groups:
            with log.transaction():
                log.rows(RowChanges(definition(), **{
                    side: {name: pa.array([1], pa.int32()) for name in names.split()}
                    for side, names in (("before", before), ("after", after)) if names}))
    outline = outline_file(str(tmp_path / "binlog.000001"))
    used = [UsedTable(use, parse_table_map(use.body), ()) for use in outline.tables]
    for number, table in enumerate(used):
        table.add(0, number, outline.samples)
    return before_images(used)


def test_rows_that_are_only_inserted_are_not_searched(tmp_path):
    assert layouts(tmp_path, ("", "id a b"), ("", "id a")) == []


def test_the_most_frequent_layout_comes_first(tmp_path):
    """IMG-MIX: updates and deletes of one table with images of several kinds."""
    found = layouts(tmp_path, ("", "id a b"), ("id", "a"), ("id a b", ""), ("id", "id b"), ("id a", ""))
    assert found == [BeforeImages(frozenset({0}), 2), BeforeImages(frozenset({0, 1, 2}), 1),
                     BeforeImages(frozenset({0, 1}), 1)]


def test_a_layout_that_no_sample_shows(tmp_path):
    """64 events of a file are kept; that some image lacks a column is known of all of them."""
    found = layouts(tmp_path, *[("id a b", "id a b")] * 500, ("id", "a"), *[("id a b", "id a b")] * 500)
    assert [images.present for images in found] == [{0, 1, 2}, {0}]
    assert found[0].samples > 30 and found[1].samples == 0
