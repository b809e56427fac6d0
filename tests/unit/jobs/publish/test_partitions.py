"""Tables with partitions: each file has rows of one value of a transform; lakes, catalogs and readers of both."""

import datetime as dt
from pathlib import Path
from unittest import mock

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog import load_catalog
from pyiceberg.expressions import AlwaysTrue

import applier
import applier.binlog
from applier.errors import SnapshotError, UsageError
from applier.snapshot import manifest
from applier.snapshot.files import file_settings, shards
from applier.snapshot.files import partitions as own
from applier.snapshot.files.partitions import Division, Partition
from tests.support import delta_readers
from tests.support import iceberg_readers as readers
from tests.support.iceberg_server import serving

SMALL, N = 10_000, 1400
"""Bytes of the files of a range, and rows of the table: they are in two ranges."""
NEW_YEAR = dt.datetime(2025, 1, 1)
BY_MONTH = {"shop.orders": "month(created_at)"}


def day_of(id_):
    """Days of a year, as often in any of two ranges; null in one of 31 rows."""
    return None if id_ % 31 == 0 else NEW_YEAR + dt.timedelta(days=id_ * 7 % 360, seconds=id_)


def rows(ids, shift=0):
    days = [day_of(id_ + shift) for id_ in ids]
    return {"id": list(ids), "created_at": days, "country": [("de", "fr", "pl")[id_ % 3] for id_ in ids],
            "v": [f"v{id_}" for id_ in ids]}


class Lake:
    """A log of `shop.orders`, and a lake that follows it."""

    def __init__(self, folder):
        self.folder, self.log, self._n = folder, applier.binlog.Writer(folder / "binlog.000001"), 1
        self.place = folder / "lake"
        self.log.query("CREATE DATABASE shop")
        self.log.query("CREATE TABLE orders (id INT PRIMARY KEY, created_at DATETIME, country VARCHAR(2), "
                       "v VARCHAR(9))", "shop")
        with self.log.transaction():
            self.log.insert("shop.orders", rows(range(N)))

    def round(self, partition=None, **options):
        """Follow what was written."""
        self._n += 1
        self.log.rotate(self.folder / f"binlog.{self._n:06}")
        files = [self.folder / f"binlog.{number:06}" for number in range(1, self._n)]
        done = applier.replay(files, lake=self.place, target_file_size=options.pop("target_file_size", SMALL),
                              partition=partition, **options)
        self.notes = "\n".join(done.report.notes)
        return self.table()

    def table(self, name="orders"):
        return applier.Snapshot(self.place).tables[f"shop.{name}"]

    def entry(self, name="orders"):
        return manifest.load(str(self.place)).table("shop", name)

    def publish(self, name="orders"):
        """The table in a catalog, which all readers read as the lake has it."""
        applier.publish(self.place, iceberg=f"sqlite:///{self.folder}/catalog.db")
        found = readers.catalog(self.folder).load_table(("shop", name))
        expected = readers.cells(self.table(name).to_arrow())
        for read in readers.READERS:
            assert readers.cells(read(found)) == expected
        return found


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path)


def files_of(table, where=None):
    """The files that a reader reads, with a condition if there is one."""
    return [Path(task.file.file_path).name for task in table.scan(where or AlwaysTrue()).plan_files()]


def transforms(table):
    return [(table.schema().find_column_name(field.source_id), str(field.transform)) for field in table.spec().fields]


def test_readers_of_a_month_read_its_files_only(lake):
    table = lake.round(BY_MONTH)
    assert len(lake.entry().files) == 2 and len(table.files) == 2 * 13, "twelve months and null, in each of two ranges"
    assert table.to_arrow().column("id").to_pylist() == list(range(N)), "in key order"
    assert not applier.Snapshot(lake.place).verify().damaged and not applier.fsck(lake.place).damaged
    for path in table.files:
        assert len({day and day.month for day in pq.read_table(path).column("created_at").to_pylist()}) == 1
    found = lake.publish()
    assert transforms(found) == [("created_at", "month")] and found.spec().fields[0].name == "created_at_month"
    march = "created_at >= '2025-03-01T00:00:00' and created_at < '2025-04-01T00:00:00'"
    assert len(files_of(found)) == 26 and len(files_of(found, march)) == len(files_of(found, "created_at is null")) == 2
    assert len(found.scan(march).to_arrow()) == sum(day_of(id_) is not None and day_of(id_).month == 3
                                                    for id_ in range(N))


def test_patterns_views_and_datasets_have_exactly_the_rows(lake, tmp_path):
    table = lake.round(BY_MONTH)
    expected = readers.cells(table.to_arrow())
    [folder] = {str(Path(path).parent) for path in table.files}
    for read in (lambda: duckdb.sql(f"FROM read_parquet('{folder}/*.parquet')").to_arrow_table(),
                 lambda: table.scan().to_table(), lambda: pa.table(table), lambda: pq.read_table(folder)):
        assert readers.cells(read()) == expected
    views = duckdb.connect()
    views.execute(applier.Snapshot(lake.place).views())
    assert readers.cells(views.execute('FROM shop.orders').to_arrow_table()) == expected


def test_a_round_keeps_the_partitions_and_the_files_of_other_ranges(lake):
    before = set(lake.round(BY_MONTH).files)
    with lake.log.transaction():  # the first moves to another month, the second to none
        lake.log.update("shop.orders", rows([5, 6]), {**rows([5, 6]), "created_at": [day_of(5 + 200), None]})
        lake.log.delete("shop.orders", rows([7]))
    lake.publish()
    table = lake.round()
    assert lake.entry().partition == Partition("month", "created_at")
    gone = before - set(table.files)
    assert len(gone) == 13 and len(set(table.files) - before) == 13, "those of one of two ranges"
    assert table.to_arrow().slice(5, 1).column("created_at").to_pylist() == [day_of(205)]
    assert len(files_of(lake.publish())) == 26
    [found] = applier.diff(f"{lake.place}/_versions/1", lake.place).tables.values()
    assert (found.removed, found.added, found.changed) == (1, 0, 2)


def test_names_of_tables_and_columns_change(lake):
    lake.round(BY_MONTH)
    lake.publish()
    lake.log.query("RENAME TABLE orders TO bestellungen", "shop")
    lake.log.query("ALTER TABLE bestellungen RENAME COLUMN created_at TO made_at, ADD COLUMN n INT DEFAULT 7", "shop")
    lake.log.query("CREATE TABLE orders (id INT PRIMARY KEY)", "shop")
    lake.round(BY_MONTH)
    assert "shop.orders: --partition month(created_at) is of a column that the table does not store" in lake.notes
    assert lake.entry("bestellungen").partition == Partition("month", "made_at") and lake.entry().partition is None
    found = lake.publish("bestellungen")
    assert transforms(found) == [("made_at", "month")] and len(found.metadata.partition_specs) == 1


def test_a_column_that_goes_takes_its_partitions_along(lake):
    lake.round(BY_MONTH)
    lake.publish()
    lake.log.query("ALTER TABLE orders DROP COLUMN created_at", "shop")
    table = lake.round()
    assert lake.entry().partition is None and len(table.files) == 2 and table.rows == N
    found = lake.publish()
    assert transforms(found) == []
    former = found.snapshots()[0].snapshot_id
    assert len(found.scan(snapshot_id=former).to_arrow()) == N
    checked = applier.fsck(lake.place, iceberg=f"sqlite:///{lake.folder}/catalog.db")
    assert not checked.damaged and not checked.orphans


def test_a_column_that_an_emptied_table_loses(lake):
    """DuckDB reads no table whose manifests are in partitions of such a column, not even of removed files."""
    lake.round(BY_MONTH)
    lake.publish()
    lake.log.query("TRUNCATE TABLE orders", "shop")
    lake.round()
    lake.publish()
    lake.log.query("ALTER TABLE orders DROP COLUMN created_at", "shop")
    lake.round()
    found = lake.publish()
    assert {one.partition_spec_id for one in found.current_snapshot().manifests(found.io)} <= {found.spec().spec_id}
    with lake.log.transaction():
        lake.log.insert("shop.orders", {"id": [1], "country": ["de"], "v": ["v"]})
    assert lake.round().rows == len(lake.publish().scan().to_arrow()) == 1


@pytest.mark.parametrize("type_", ["TIMESTAMP NULL", "DATE", "DATETIME(6)"])
def test_another_type_of_the_column(lake, type_):
    """Also where Iceberg has it as another column then."""
    lake.round(BY_MONTH)
    lake.publish()
    lake.log.query(f"ALTER TABLE orders MODIFY created_at {type_}", "shop")
    lake.round(system_time_zone="+00:00")
    assert lake.entry().partition == Partition("month", "created_at")
    found = lake.publish()
    assert transforms(found) == [("created_at", "month")]
    assert len(files_of(found, "created_at is null")) == 2


def test_a_type_that_the_transform_does_not_take(lake):
    lake.round(BY_MONTH)
    lake.log.query("ALTER TABLE orders MODIFY created_at VARCHAR(40)", "shop")
    lake.round()
    assert "shop.orders: --partition month(created_at) cannot be of string values" in lake.notes
    assert lake.entry().partition is None and transforms(lake.publish()) == []


def test_other_partitions_rewrite_the_table(lake):
    """Also partitions of a table that has none; a file may become several ranges."""
    lake.round()
    assert lake.entry().partition is None and transforms(lake.publish()) == []
    for wanted, condition, share in (({"shop.orders": "identity(country)"}, "country = 'de'", 3),
                                     ({"shop.orders": "bucket[4](id)"}, "id = 17", 8),
                                     ({"shop.orders": "truncate[2000](id)"}, "id = 2017", 0), (BY_MONTH, "v = 'v2'", 1),
                                     ({"shop.orders": "identity(country)"}, "country = 'de'", 3)):
        with lake.log.transaction():
            lake.log.delete("shop.orders", rows([(last := lake.table().rows) - 1]))
        assert lake.round(wanted).rows == last - 1
        found = lake.publish()
        assert [f"{transform}({column})" for column, transform in transforms(found)] == [*wanted.values()]
        n = len(files_of(found))
        assert len(files_of(found, condition)) == (n // share if share else 0) and n >= len(lake.entry().files)
    assert len(found.metadata.partition_specs) == 5, "no, and four others"


@pytest.mark.parametrize("transactions", [True, False])
def test_rest_catalogs(lake, transactions):
    """Where partitions come, change and go, before or with the rows."""
    lake.round()
    with serving(lake.folder, transactions=transactions) as server:
        for wanted in (None, BY_MONTH, {"shop.orders": "year(created_at)"}):
            with lake.log.transaction():
                lake.log.delete("shop.orders", rows([lake.table().rows - 1]))
            table = lake.round(wanted)
            applier.publish(lake.place, iceberg=server.uri)
            found = load_catalog("reader", type="rest", uri=server.uri).load_table(("shop", "orders"))
            assert transforms(found) == [("created_at", str(lake.entry().partition).partition("(")[0])] * bool(wanted)
            assert len(files_of(found, "created_at is null")) == len(lake.entry().files)
            for read in readers.READERS:
                assert readers.cells(read(found)) == readers.cells(table.to_arrow())


def test_emptied_and_filled_again(lake):
    lake.round(BY_MONTH)
    lake.publish()
    lake.log.query("TRUNCATE TABLE orders", "shop")
    assert lake.round().rows == 0
    assert files_of(lake.publish()) == []
    with lake.log.transaction():
        lake.log.insert("shop.orders", rows(range(40)))
    lake.round()
    assert len(files_of(lake.publish())) == len({day and day.month for day in map(day_of, range(40))})


def test_invalid_dates_are_null(lake):
    lake.log.query("CREATE TABLE d (id INT PRIMARY KEY)", "shop")
    with lake.log.transaction():
        lake.log.insert("shop.d", {"id": [1, 2]})
    lake.log.query("ALTER TABLE d ADD COLUMN day DATE NOT NULL", "shop")  # 0000-00-00
    with lake.log.transaction():
        lake.log.insert("shop.d", {"id": [3], "day": [dt.date(2025, 1, 1)]})
    lake.round({"shop.d": "day(day)"})
    assert [len(pq.read_table(path)) for path in lake.table("d").files] == [2, 1]
    assert len(files_of(lake.publish("d"), "day is null")) == 1


def test_delta_has_the_same_files(lake, tmp_path):
    """Delta has no such partitions. A condition on the column, of which files have statistics, finds the rows."""
    def check(table):
        applier.publish(lake.place, delta=tmp_path / "delta", change_data=True)
        place = delta_readers.place(tmp_path / "delta", "shop", "orders")
        for read in delta_readers.READERS:
            assert readers.cells(read(place)) == readers.cells(table.to_arrow())
        wanted = table.to_arrow(filter=pc.field("country") == "de").num_rows
        found = DeltaTable(place)
        assert found.to_pyarrow_table(filters=[("country", "=", "de")]).num_rows == wanted
        assert pl.scan_delta(place).filter(pl.col("country") == "de").collect().height == wanted
        assert delta_readers.with_duckdb(place, where="country = 'de'").num_rows == wanted
        assert found.to_pyarrow_table(filters=[("id", "<", 100)]).num_rows == table.to_arrow(
            filter=pc.field("id") < 100).num_rows

    check(lake.round({"shop.orders": "identity(country)"}))
    with lake.log.transaction():
        lake.log.update("shop.orders", rows([5]), {**rows([5]), "country": ["it"]})
    check(lake.round())
    lake.log.query("CREATE TABLE u (id INT PRIMARY KEY)", "shop")
    check(lake.round({"shop.orders": "bucket[2](id)"}))


def test_a_snapshot_and_its_base(lake, tmp_path):
    """Not only lakes: partitions go from a base to the next snapshot, into a lake, and into one that merges on read."""
    lake.round(BY_MONTH)
    with lake.log.transaction():
        lake.log.delete("shop.orders", rows([7]))
    lake.round()
    files = sorted(tmp_path.glob("binlog.*"))[:-1]
    applier.replay(files, tmp_path / "next", base=f"{lake.place}/_versions/1", target_file_size=SMALL)
    applier.replay(files, lake=tmp_path / "other", base=f"{lake.place}/_versions/1", target_file_size=SMALL)
    applier.replay(files, lake=tmp_path / "merging", base=f"{lake.place}/_versions/1", merge_on_read=True)
    for place, parts in (("next", "month(created_at)"), ("other", "month(created_at)"), ("merging", "None")):
        snapshot = applier.Snapshot(tmp_path / place)
        assert snapshot.tables["shop.orders"].to_arrow().equals(lake.table().to_arrow())
        assert not snapshot.verify().damaged
        assert str(manifest.load(str(tmp_path / place)).tables[0].partition) == parts


def test_an_imported_dump(tmp_path):
    values = ",".join(f"({id_},{repr(str(day_of(id_))) if day_of(id_) else 'NULL'})" for id_ in range(99, 0, -1))
    (tmp_path / "dump.sql").write_text(
        "CREATE DATABASE shop; USE shop; CREATE TABLE orders (id INT, created_at DATETIME);\n"
        f"INSERT INTO orders VALUES {values}; ALTER TABLE orders ADD PRIMARY KEY (id);\n")
    made = applier.import_dump(tmp_path / "dump.sql", tmp_path / "out", partition=BY_MONTH).snapshot
    table = made.tables["shop.orders"]
    assert len(table.files) == 13 and table.to_arrow().column("id").to_pylist() == list(range(1, 100))
    assert not made.verify().damaged
    for wanted in ({"shop.nothing": "month(created_at)"}, {"shop.orders": "month(id)"}):
        with pytest.raises(UsageError):
            applier.import_dump(tmp_path / "dump.sql", tmp_path / "not", partition=wanted)


def test_many_ranges(lake):
    """Their first files are in a shard."""
    with mock.patch.object(shards, "MOST_INLINE", 1):
        lake.round(BY_MONTH)
    assert isinstance(lake.entry().files, shards.ShardedFiles) and len(lake.entry().files) == 2
    assert lake.table().to_arrow().column("id").to_pylist() == list(range(N))
    with lake.log.transaction():
        lake.log.delete("shop.orders", rows([7]))
    assert lake.round().rows == N - 1 and len(files_of(lake.publish())) == 26


@pytest.mark.parametrize(("wanted", "message"), [
    ("month(id)", "cannot be of int values"), ("hour(day)", "of date values"), ("identity(r)", "floating-point"),
    ("identity(nothing)", "a column that the table does not store"), ("identity(virtual)", "does not store")])
def test_what_no_transform_takes(lake, wanted, message):
    lake.log.query("CREATE TABLE t (id INT PRIMARY KEY, day DATE, r DOUBLE, `virtual` INT AS (id + 1))", "shop")
    with pytest.raises(UsageError, match=message):
        lake.round({"shop.t": wanted})


@pytest.mark.parametrize("create", ["CREATE TABLE t (id INT)", "CREATE TABLE t (id INT, KEY (id))"])
def test_tables_without_a_key(lake, create):
    lake.log.query(create, "shop")
    with pytest.raises(UsageError, match="needs a table with a key"):
        lake.round({"shop.t": "identity(id)"})


@pytest.mark.parametrize("text", ["month", "weeks(created_at)", "bucket(id)", "bucket[0](id)", "void(id)", "month()"])
def test_what_is_no_transform(lake, text):
    with pytest.raises(UsageError, match="not a transform of a column"):
        lake.round({"shop.orders": text})


def test_lakes_that_merge_on_read_have_none(lake):
    with pytest.raises(UsageError, match="merges on read has no partitions"):
        lake.round(BY_MONTH, merge_on_read=True)


def test_too_many(lake):
    with pytest.raises(UsageError, match="1,400 values of identity\\(id\\) are among the rows of one row group"):
        lake.round({"shop.orders": "identity(id)"}, target_file_size="64M")


@pytest.mark.parametrize("type_", [pa.int32(), pa.int64()])
def test_the_least_number_is_not_truncated(type_):
    least = -2 ** (type_.bit_width - 1)
    division = Division(Partition.parse("truncate[10](n)"), pa.field("n", type_))
    assert len([*division.parts(pa.chunked_array([pa.array([least + 8, None, -1], type_)]))]) == 3
    with pytest.raises(UsageError, match=f"{least} has no value of truncate"):
        list(division.parts(pa.chunked_array([pa.array([least], type_)])))


def test_a_range_ends_before_it_has_too_many(lake):
    with mock.patch.object(own, "MOST", 5), mock.patch("applier.snapshot.writer.MOST", 5), \
            mock.patch.object(file_settings, "ROW_GROUP_BYTES", 4000):
        table = lake.round({"shop.orders": "truncate[100](id)"}, target_file_size="64M")
    assert table.rows == N and len(table.files) == 17 and len(lake.entry().files) == 4


def test_a_table_that_does_not_exist(lake):
    lake.round({"shop.nothing": "month(created_at)"})
    assert "partition names shop.nothing, which does not exist" in lake.notes


def test_a_damaged_part_is_found(lake):
    path = Path(lake.round(BY_MONTH).files[3])
    content = path.read_bytes()
    path.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
    assert [line for line in applier.Snapshot(lake.place).verify().damaged if path.name in line]
    with pytest.raises(SnapshotError):
        lake.table().to_arrow()
    path.unlink()
    with lake.log.transaction():
        lake.log.delete("shop.orders", rows([7]))
    with pytest.raises(SnapshotError, match="missing"):
        lake.round()


def test_manifests_say_which_readers_know_them(lake):
    lake.round()
    assert b'"format_version": 3' in Path(applier.Snapshot(lake.place).uri, "_snapshot.json").read_bytes()
    with lake.log.transaction():
        lake.log.delete("shop.orders", rows([7]))
    lake.round(BY_MONTH)
    assert b'"format_version": 5' in Path(applier.Snapshot(lake.place).uri, "_snapshot.json").read_bytes()


def test_values_are_pyicebergs():
    """Of times before 1970, and of one hour, which are transformed together."""
    times = [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), dt.datetime(1970, 1, 1), None,
             dt.datetime(1969, 12, 31, 23, 0), dt.datetime(1970, 1, 1, 1)]
    field, column = pa.field("at", pa.timestamp("us")), pa.chunked_array([pa.array(times, pa.timestamp("us"))])
    found = {text: [(value, rows.tolist()) for value, rows in Division(Partition.parse(text), field).parts(column)]
             for text in ("hour(at)", "year(at)")}
    assert found["hour(at)"] == [("ffffffff", [0, 3]), ("00000000", [1]), (None, [2]), ("01000000", [4])]
    assert found["year(at)"] == [("ffffffff", [0, 3]), ("00000000", [1, 4]), (None, [2])]


def test_rows_in_wrong_partitions_of_the_server(lake):
    """A file says in which ones its rows are: ranges of several files cannot, so the table is no longer divided."""
    log = lake.log
    log.query("CREATE TABLE p (id INT, n INT, PRIMARY KEY (id, n)) PARTITION BY RANGE (n) (PARTITION p0 VALUES LESS "
              "THAN (10), PARTITION p1 VALUES LESS THAN (20))", "shop")
    log.query("CREATE TABLE x (id INT, n INT, PRIMARY KEY (id, n))", "shop")
    with log.transaction():
        log.insert("shop.p", {"id": [1, 2], "n": [3, 13]})
        log.insert("shop.x", {"id": [5, 6], "n": [4, 14]})
    lake.round({"shop.p": "identity(n)"})
    assert str(lake.entry("p").partition) == "identity(n)"
    log.query("ALTER TABLE p EXCHANGE PARTITION p0 WITH TABLE x WITHOUT VALIDATION", "shop")
    lake.round({"shop.p": "identity(n)"})
    assert lake.entry("p").partition is None and lake.entry("p").misplaced
    assert "shop.p: --partition identity(n) is not for rows that may lie in wrong partitions" in lake.notes
    assert [row["id"] for row in lake.table("p").to_arrow().to_pylist()] == [2, 5, 6]
    log.query("ALTER TABLE p TRUNCATE PARTITION p0", "shop")
    lake.round({"shop.p": "identity(n)"})
    assert [row["id"] for row in lake.table("p").to_arrow().to_pylist()] == [2]
    lake.publish("p")
