"""Outlines of awkward files are small: a driver has those of all files in memory."""

import pickle

import pyarrow as pa
import pytest

from applier.binlog.outline.outline import OutlineTask
from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.outline.samples import sample_bytes
from applier.engine.executor import ThisProcess
from applier.schema.history.relevance import Relevance
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.writer.row_encoder import RowChanges
from tests.support.planning import Log, table

MANY_FILES = sample_bytes(0, 1 << 40)
RELEVANCE = Relevance(TableFilter(ignored=parse_table_list(["other"])).wanted)


def repeated(path, write, times, mark=b"00000"):
    """A log of many groups as the one that `write` writes, each with a number of its own instead of the mark."""
    with Log(path, checksum=False) as log:
        start = log.position
        write(log)
    data = path.read_bytes()
    with path.open("wb") as file:
        file.write(data[:start])
        file.writelines(data[start:].replace(mark, b"%05d" % (number % 10**5)) for number in range(times))
    return str(path)


def kilobytes(outline):
    return len(pickle.dumps(outline, pickle.HIGHEST_PROTOCOL)) / 1000


def test_a_file_with_many_tables_in_all_of_its_splits(tmp_path):
    """Archives of many tenants have such files: 3,000 tables in each of 16 splits."""
    definition, few = table("tenant_00000"), pa.array([1, 2, 3], pa.int32())

    def write(log):
        with log.transaction():
            log.rows(RowChanges(definition, after={"id": few, "a": few}))

    path = repeated(tmp_path / "b.000001", write, 3000)
    [group, *_] = outline_file(path, split_bytes=1).splits
    data = (tmp_path / "b.000001").read_bytes()
    with open(path, "ab") as file:
        file.write(data[group.start:] * 15)
    found = outline_file(path, split_bytes=len(data), sample_bytes=MANY_FILES)
    assert len(found.tables) == 3000 and [len(split.tables) for split in found.splits][:15] == [3000] * 15
    assert kilobytes(found) < 60 < kilobytes([*found.tables])


@pytest.mark.thorough
def test_a_file_with_many_statements(tmp_path):
    """Those that a plan needs are compressed; of those that it does not, nothing is left."""
    def write(log):
        log.query("DROP TABLE IF EXISTS other.stage_00000", "other")
        log.query("INSERT INTO other.log_00000 (id, what) VALUES (00000, 'something')", "other")
        log.query("GRANT SELECT ON shop.* TO 'user00000'@'%'", "mysql")

    path = repeated(tmp_path / "b.000001", write, 10_000)
    whole = outline_file(path)
    found = outline_file(path, relevance=RELEVANCE)
    assert len(whole.statements) == 30_000 and kilobytes(whole) < 300 < kilobytes([*whole.statements]) / 10
    assert 10_000 <= len(found.statements) < 10_100 and kilobytes(found) < 100


def test_a_long_statement(tmp_path):
    """Every plan without --on-statement skip stops at it."""
    with Log(tmp_path / "b.000001") as log:
        log.query("INSERT INTO shop.t VALUES " + ", ".join(f"({n * 7919 % 99991}, 'row {n}')" for n in range(50_000)))
    [found] = ThisProcess().outline([OutlineTask(log.path, relevance=RELEVANCE)], lambda *_: None)
    assert log.position > 1_000_000 and len(found.statements) == 1 and kilobytes(found) < 10
