"""`spark.read.format("binlog")` and `spark.readStream`: the rows of `applier.changes`, in a real session and stream."""

import json
import os
import shutil
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import applier
import applier.binlog
import applier.spark
from applier.errors import UsageError
from applier.jobs.spark_source import streaming
from applier.jobs.spark_source.options import parse
from applier.jobs.spark_source.since_4_0 import HAS_READ_LIMITS, EqualTo, Filter, ReadAllAvailable, ReadMaxBytes
from applier.jobs.spark_source.streaming import BinlogStream
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.recorded.archives.demo_digest import ARCHIVE

HAS_FILTERS = EqualTo.__mro__[1] is Filter

limits = pytest.mark.skipif(not HAS_READ_LIMITS, reason="micro-batches have limits from Spark 4.2 on")
FILES = [f"binlog.{number:06}" for number in (1, 2, 3)]


@pytest.fixture(scope="module")
def source(spark):
    spark.dataSource.register(applier.spark.BinlogSource)
    return spark


def read(source, **options):
    return source.read.format("binlog").options(**options).load(str(ARCHIVE))


def in_order(rows):
    """Rows as dicts in log order, the row before an update first; times by their seconds."""
    found = [{name: value.timestamp() if name == "_commit_timestamp" else value for name, value in row.items()}
             for row in rows]
    kinds = ["insert", "update_preimage", "update_postimage", "delete", "truncate", "alter"]
    return sorted(found, key=lambda row: (row["_commit_version"], row["_seq"], kinds.index(row["_change_type"])))


def expected(table, **arguments):
    return in_order(applier.changes(ARCHIVE, table, **arguments).to_arrow().to_pylist())


@pytest.mark.every_spark
@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("table", ["shop.orders", "shop.stock"])
def test_the_rows_are_those_of_the_feed(source, table):
    rows = in_order(row.asDict() for row in read(source, table=table, partitionBytes="1M").collect())
    assert rows == expected(table)


def test_columns_and_a_part_of_the_log(source):
    place = "binlog.000002:745606"
    rows = read(source, table="shop.orders", columns="id, status", stopPosition=place).collect()
    assert in_order(row.asDict() for row in rows) == expected("shop.orders", columns=["id", "status"], stop=place)


def test_unsigned_bigints_as_longs(source, tmp_path):
    """As for `applier.changes`; a value that does not fit stops the query."""
    with applier.binlog.Writer(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY)", "d")
        with log.transaction():
            log.insert("d.t", {"id": [2**63 - 1]})
        middle = log.position[1]
        with log.transaction():
            log.insert("d.t", {"id": [2**63]})
    options = {"table": "d.t", "unsignedBigint": "long"}
    stop = f"binlog.000001:{middle}"
    frame = source.read.format("binlog").options(**options, stopPosition=stop).load(str(tmp_path))
    assert frame.schema["id"].dataType.typeName() == "long" and [row["id"] for row in frame.collect()] == [2**63 - 1]
    with pytest.raises(PySparkException, match="does not fit into a signed BIGINT"):
        source.read.format("binlog").options(**options).load(str(tmp_path)).collect()


def test_complete_changes(source):
    rows = in_order(row.asDict() for row in read(source, table="shop.orders", complete="true").collect())
    assert rows == expected("shop.orders", complete=True)


def test_any_tables_have_one_shape(source):
    rows = read(source, tables="shop.orders,shop.stock").collect()
    assert {row["_table"] for row in rows} == {"shop.orders", "shop.stock"}
    feed = expected("shop.orders")
    ids = {(row["_commit_version"], row["_seq"], row["_change_type"]): row for row in feed}
    found = [row for row in rows if row["_table"] == "shop.orders"]
    assert len(found) == sum(row["_change_type"] != "update_postimage" for row in feed)
    for row in found:
        kind = {"update": "update_preimage"}.get(row["_change_type"], row["_change_type"])
        of_feed = ids[row["_commit_version"], row["_seq"], kind]
        image = json.loads(row["after" if kind == "insert" else "before"], parse_float=Decimal)
        for name, value in image.items():
            assert value == (str(of_feed[name]) if name == "placed_at" else of_feed[name])


@pytest.mark.every_spark
def test_a_wrong_option_says_so(source):
    with pytest.raises(PySparkException, match="'tabel' is not an option of this source"):
        read(source, tabel="shop.orders").collect()


@pytest.mark.every_spark
@pytest.mark.thorough
@pytest.mark.parametrize("condition, parts", [
    ("_table IN ('shop.stock', 'shop.orders') AND _table <> 'shop.orders'", 2),
    ("_table = 'shop.stock' AND _gtid = '20810cc3-e548-11f1-a5e4-02fc00000001:14'", 1),
    ("_commit_timestamp >= TIMESTAMP '2026-03-14 10:30:00Z'", 6),
])
def test_filters_of_a_query_are_pushed_down(source, condition, parts):
    """Where the session allows it: the rows are the same with it and without, of fewer parts of the log. Spark 4.0
    pushes no filters down."""
    found = []
    for enabled in ("false", "true"):
        source.conf.set("spark.sql.python.filterPushdown.enabled", enabled)
        try:
            frame = read(source).where(condition)
            found.append((frame.rdd.getNumPartitions(), sorted(map(str, frame.collect()))))
        finally:
            source.conf.unset("spark.sql.python.filterPushdown.enabled")
    assert found[0][1] == found[1][1] != []
    assert (found[0][0], found[1][0]) == (6, parts if HAS_FILTERS else 6)


class Sink:
    """A folder of a Delta-like table: each micro-batch appends files, and the same batch twice is there once."""

    def __init__(self, spark, folder):
        self.folder, self.spark, self.batches = folder, spark, []

    def __call__(self, frame, number):
        frame.write.mode("overwrite").parquet(f"{self.folder}/batch={number}")
        self.batches.append(number)

    def rows(self):
        return in_order({name: value for name, value in row.asDict().items() if name != "batch"}
                        for row in self.spark.read.parquet(str(self.folder)).collect())


def run(source, archive, sink, checkpoint, **options):
    """A query until it has all that is there now."""
    stream = source.readStream.format("binlog").options(**options).load(str(archive))
    query = stream.writeStream.foreachBatch(sink).option("checkpointLocation", str(checkpoint)).trigger(
        availableNow=True).start()
    try:
        assert query.awaitTermination(180)
    finally:
        query.stop()


@pytest.mark.every_spark
def test_a_stream_follows_an_archive_that_grows(source, tmp_path):
    """A restart continues at the checkpoint's offset, with the definitions that the log had there."""
    archive = tmp_path / "archive"
    archive.mkdir()
    sink = Sink(source, tmp_path / "sink")
    for number, names in enumerate((FILES[:2], FILES[2:])):
        for name in names:
            shutil.copy(os.path.join(ARCHIVE, name), archive)
        run(source, archive, sink, tmp_path / "checkpoint", table="shop.orders")
        assert sink.batches == list(range(number + 1))
    assert sink.rows() == expected("shop.orders")
    run(source, archive, sink, tmp_path / "checkpoint", table="shop.orders")
    assert sink.batches == [0, 1]


@limits
@pytest.mark.thorough
def test_a_micro_batch_has_at_most_so_many_bytes(source, tmp_path):
    sink = Sink(source, tmp_path / "sink")
    run(source, ARCHIVE, sink, tmp_path / "checkpoint", table="shop.stock", maxBytesPerTrigger="1M")
    size = sum(os.path.getsize(os.path.join(ARCHIVE, name)) for name in FILES)
    assert len(sink.batches) > size >> 20
    assert sink.rows() == expected("shop.stock")


def test_spark_before_4_2_passes_no_limits(monkeypatch):
    """A batch goes to the end of the log, from where the stream began if that file is still there."""
    end = {"file": "binlog.000003", "pos": 176495}
    for start in ("binlog.000002:745606", "binlog.000000:4"):
        stream = BinlogStream(parse({"path": str(ARCHIVE), "table": "shop.orders", "startPosition": start}), [])
        assert stream.latestOffset() == end
    monkeypatch.setattr(streaming, "HAS_READ_LIMITS", False)
    with pytest.raises(UsageError, match=r"maxBytesPerTrigger needs Spark 4\.2"):
        BinlogStream(parse({"path": str(ARCHIVE), "table": "shop.orders", "maxBytesPerTrigger": "1M"}), [])


@limits
def test_offsets_are_ends_of_groups():
    """GRP-2: with a limit below one group, a group at a time."""
    stream = BinlogStream(parse({"path": str(ARCHIVE), "table": "shop.orders"}), [])
    [group] = applier.locate(ARCHIVE, gtid="20810cc3-e548-11f1-a5e4-02fc00000001:14")
    start = {"file": group.file, "pos": group.start}
    assert stream.latestOffset(start, ReadMaxBytes(1)) == {"file": group.file, "pos": group.end}
    end = stream.latestOffset(start, ReadAllAvailable())
    assert end == {"file": "binlog.000003", "pos": 176495}
    assert stream.latestOffset(end, ReadMaxBytes(1)) == stream.latestOffset(end, ReadAllAvailable()) == end
    assert stream.partitions(end, end) == []


@limits
@pytest.mark.thorough
def test_a_stream_from_a_base_begins_there(source, tmp_path):
    """In micro-batches of a part of what follows."""
    [group] = applier.locate(ARCHIVE, gtid="20810cc3-e548-11f1-a5e4-02fc00000001:14")
    place = f"{group.file}:{group.end}"
    base = applier.replay(ARCHIVE, tmp_path / "base", stop=place).snapshot.uri
    sink = Sink(source, tmp_path / "sink")
    run(source, ARCHIVE, sink, tmp_path / "checkpoint", table="shop.stock", base=base, maxBytesPerTrigger="1M")
    assert len(sink.batches) > 1 and sink.rows() == expected("shop.stock", base=base)


@pytest.mark.thorough
def test_a_stream_stops_where_the_table_gets_other_columns(source, tmp_path):
    """Spark has one schema a query; started again, it continues with the new one."""
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query(sql := "CREATE TABLE t (id INT PRIMARY KEY)", "d")
        one, two = (parse_statement(text, default_database="d")[0].definition
                    for text in (sql, "CREATE TABLE t (id INT PRIMARY KEY, v INT)"))
        log.transactions([RowChanges(one, after={"id": pa.array([1], pa.int32())})])
        middle = log.position
        log.query("ALTER TABLE t ADD COLUMN v INT", "d")
        log.transactions([RowChanges(two, after={"id": pa.array([2], pa.int32())})])
    archive = tmp_path / "archive"
    archive.mkdir()
    whole = (tmp_path / "binlog.000001").read_bytes()
    (archive / "binlog.000001").write_bytes(whole[:middle])
    sink = Sink(source, tmp_path / "sink")
    stream = source.readStream.format("binlog").option("table", "d.t").load(str(archive))
    query = stream.writeStream.foreachBatch(sink).option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    try:
        query.processAllAvailable()
        assert sink.batches == [0]
        (archive / "binlog.000001").write_bytes(whole)
        with pytest.raises(PySparkException, match="the table's columns have changed since the stream began"):
            query.processAllAvailable()
    finally:
        query.stop()
    run(source, archive, sink, tmp_path / "checkpoint", table="d.t")
    frame = source.read.option("mergeSchema", "true").parquet(str(sink.folder))
    assert sorted((row["id"], row["v"]) for row in frame.collect()) == [(1, None), (2, None)]
