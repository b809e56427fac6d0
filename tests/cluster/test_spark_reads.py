"""A snapshot's files are plain Parquet: Spark, whose reader knows the fewest encodings, reads every type of them."""

import datetime
import decimal
from collections import Counter

import pyarrow as pa
import pytest

import applier.binlog
import applier.spark
from applier import cli
from applier.snapshot.writer import TableTarget, TableWriter
from tests.support.diffs import snapshot_of
from tests.support.readers import rows_of_case


def test_spark_reads_every_type(tmp_path, spark):
    n = 300
    numbers = list(range(n))
    table = pa.table({
        "id": pa.array(numbers, pa.int32()),
        "tiny": pa.array([None if i % 7 == 0 else i % 100 for i in numbers], pa.int8()),
        "text": [f"é{i}" * (i % 5) for i in numbers],
        "bytes": pa.array([bytes([i % 256, 0]) for i in numbers]),
        "price": pa.array([decimal.Decimal(i).scaleb(-2) for i in numbers], pa.decimal128(12, 2)),
        "short": pa.array([decimal.Decimal(i).scaleb(-2) for i in numbers], pa.decimal128(7, 2)),
        "big": pa.array([decimal.Decimal(2**64 - 1 - i) for i in numbers], pa.decimal128(20, 0)),
        "day": [datetime.date(1900, 1, 1) + datetime.timedelta(i * 100) for i in numbers],
        "at_time": pa.array([datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=i) for i in numbers],
                           pa.timestamp("us")),
        "span": pa.array([None if i == 5 else -i for i in numbers], pa.int64()).cast(pa.duration("us")),
        "double": pa.array([i / 3 for i in numbers]),
        "vector": pa.array([[float(i), 1.0] for i in numbers], pa.list_(pa.float32())),
    })
    (tmp_path / "db/t").mkdir(parents=True)
    with TableWriter(TableTarget(str(tmp_path), "db/t"), 0, table.schema, key=["id", "day", "text"],
                     key_kind="bytes") as writer:
        writer.write(table)
        writer.close()
    read = spark.read.parquet(str(tmp_path / "db/t")).orderBy("id").collect()
    microseconds = table.set_column(9, "span", table["span"].cast(pa.int64()))
    for row, expected in zip(read, microseconds.to_pylist()):
        assert {name: bytes(value) if name == "bytes" else value for name, value in row.asDict().items()} == expected
    assert len(read) == n
    assert spark.read.parquet(str(tmp_path / "db/t")).where("id >= 290 and text is not null").count() == 10


def test_spark_runs_the_statements_of_views(tmp_path, spark):
    """Comments, paths and columns may have any name; several files are one view."""
    (tmp_path / "a*{b} it's").mkdir()
    snapshot = snapshot_of(
        tmp_path / "a*{b} it's" / "now",
        """CREATE TABLE d.t (id INT PRIMARY KEY COMMENT 'it''s; -- \\\\ "', `a"b` TIME(3),
           b BIGINT UNSIGNED)""",
        [(number, f"-00:00:0{number}.5", 2**64 - number) for number in range(1, 4)], file_bytes=30)
    assert len(snapshot.tables["d.t"].files) > 1
    for statement in snapshot.views("spark").split(";\n")[:-1]:
        spark.sql(statement)
    view = spark.sql("SELECT * FROM d.t ORDER BY id")
    assert [tuple(row) for row in view.collect()] == [
        (number, -datetime.timedelta(seconds=number, milliseconds=500), decimal.Decimal(2**64 - number))
        for number in range(1, 4)]
    assert view.schema["id"].metadata["comment"] == "it's; -- \\ \""


def test_spark_runs_the_statements_of_a_history_and_of_changes(tmp_path, spark, capsys):
    """With a function of the rows as of a commit, whose argument no column is treated as."""
    place = tmp_path / "a*{b} it's"
    place.mkdir()
    with applier.binlog.Writer(place / "binlog.000001") as log:
        log.query("CREATE DATABASE hist")
        log.query("CREATE TABLE t (id INT PRIMARY KEY COMMENT 'it''s', at_time TIME, seq INT)", "hist")
        for seq in (1, 2):
            with log.transaction():
                log.insert("hist.t", {"id": [seq], "at_time": [datetime.timedelta(seconds=-seq)], "seq": [seq]})
    arguments = ["--binlogs", str(place / "binlog.000001"), "--table", "hist.t"]
    assert cli.main(["history", *arguments, "--output", str(place / "h,1")]) == 0
    assert cli.main(["changes", *arguments, "--format", "parquet", "--output", str(place / "c")]) == 0
    for made in ("h,1", "c"):
        capsys.readouterr()
        assert cli.main(["views", str(place / made), "--dialect", "spark"]) == 0
        for statement in capsys.readouterr().out.split(";\n")[:-1]:
            spark.sql(statement)
    commits = [row[0] for row in spark.sql("SELECT _commit_version FROM hist.t_changes ORDER BY id").collect()]
    for commit, ids in zip([commits[0] - 1, *commits], ([], [1], [1, 2])):
        found = spark.sql(f"SELECT * FROM hist.t_as_of({commit}) ORDER BY id")
        assert [tuple(row) for row in found.collect()] == [(id, -datetime.timedelta(seconds=id), id) for id in ids]
    assert spark.table("hist.t_history").schema["id"].metadata["comment"] == "it's"


def plain(value):
    """A value of Arrow as Spark's rows have it: an instant in local time, a span as its microseconds."""
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(microseconds=1)
    if isinstance(value, bytearray | list):
        return bytes(value) if isinstance(value, bytearray) else tuple(value)
    if isinstance(value, datetime.datetime) and value.tzinfo:
        return value.astimezone().replace(tzinfo=None)
    return value


@pytest.mark.thorough
@pytest.mark.slow
def test_spark_gets_the_values_that_others_get(tmp_path, spark):
    """Of all types: a snapshot's and a history's files, and changes as a data source; TIME is a number there."""
    spark.dataSource.register(applier.spark.BinlogSource)
    seen = set()
    for number, rows in enumerate(rows_of_case("mysql-types-number-time", tmp_path)):
        if rows.shape in ("uint64", "complete"):  # of the first Spark has no such type, the second takes its time
            continue
        if rows.shape == "snapshot":
            frame = spark.read.parquet(*rows.rows.files)
        elif rows.shape == "history":
            made = applier.history(rows.source, rows.table).write(tmp_path / f"{number}", engine="spark")
            frame = spark.read.parquet(*(str(tmp_path / f"{number}" / file.file) for file in made.files))
        else:
            frame = spark.read.format("binlog").option("table", rows.table).load(str(rows.source))
        read = Counter(tuple(map(plain, row)) for row in frame.collect())
        assert read == Counter(tuple(map(plain, row)) for row in zip(*rows.values.values())), (rows.table, rows.shape)
        seen |= {rows.shape} if read else set()
    assert seen == {"snapshot", "changes", "history"}
