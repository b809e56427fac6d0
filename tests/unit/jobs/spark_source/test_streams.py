"""Micro-batches of a stream, as Spark asks for them, add up to what is read at once."""

from dataclasses import replace

import pytest
from pyspark.sql.streaming.datasource import ReadMaxBytes

from applier.jobs.changes.job import ChangeLog
from applier.jobs.spark_source.options import parse
from applier.jobs.spark_source.source import BinlogReader
from applier.jobs.spark_source.streaming import BinlogStream
from applier.options import ChangesOptions
from applier.schema.table_filter import EVERYTHING
from tests.support.real_server import Case


def rows_of(reader, parts):
    return [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]


def in_order(rows):
    return sorted(rows, key=lambda row: (row["_commit_version"], row["_seq"]))


@pytest.mark.by_turns(one_in=2)
@pytest.mark.slow
@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("name", ["transactions-mysql", "transactions-mariadb"])
def test_xa_transactions_may_be_open_where_batches_end(name, restarts):
    """A batch an event group: a transaction's changes come with its XA COMMIT, whether the stream knows the batches
    before it or begins at a checkpoint."""
    options = parse({"path": str(Case(name).binlogs[0].parent)})
    reader, stream = BinlogReader(options), BinlogStream(options, [])
    found, offset, open_ends = [], stream.initialOffset(), 0
    while (end := stream.latestOffset(offset, ReadMaxBytes(1))) != offset:
        found += rows_of(stream, stream.partitions(offset, end))
        log = ChangeLog(replace(options.changes, stop_position=(end["file"], end["pos"])))
        open_ends += bool(log.checkpoint(EVERYTHING).prepared)
        stream, offset = BinlogStream(options, []) if restarts else stream, end
    assert in_order(found) == in_order(rows_of(reader, reader.partitions()))
    assert open_ends


@pytest.mark.slow
def test_the_commit_versions_of_a_file_without_a_number(tmp_path):
    """They go by its place among the files, whatever was prepared before a batch."""
    case = Case("transactions-mariadb")
    schema = tmp_path / "schema.sql"
    before = ChangeLog(ChangesOptions(tuple(map(str, case.binlogs[:2])), ignore_foreign_keys=True))
    schema.write_text("".join(f"{one.to_sql()};\n" for one in before.history(EVERYTHING).definitions()))
    file = tmp_path / "current"
    file.write_bytes(case.binlogs[2].read_bytes())
    options = parse({"path": str(file), "schema": str(schema), "ignoreForeignKeys": "true"})
    reader, stream = BinlogReader(options), BinlogStream(options, [])
    found, offset = [], stream.initialOffset()
    while (end := stream.latestOffset(offset, ReadMaxBytes(1))) != offset:
        found, offset = found + rows_of(stream, stream.partitions(offset, end)), end
    assert found and in_order(found) == in_order(rows_of(reader, reader.partitions()))
