"""`applier.changes`: which changes, in which shape, of which part of the log."""

import json
import re
import shutil
from datetime import UTC, datetime

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import applier
from applier import cli
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.real_server import Case

pytestmark = pytest.mark.slow

OF_CHANGES = ["_change_type", "_commit_version", "_seq", "_commit_timestamp", "_gtid", "_server_id",
              "_thread_id", "_file", "_pos", "_row", "_cascaded", "_present", "_diffs"]


def kinds(changes):
    return changes.to_arrow()["_change_type"].cast(pa.string()).to_pylist()


@pytest.fixture(scope="module")
def orders():
    return applier.changes(ARCHIVE, "shop.orders").to_arrow()


class Log:
    """A log of one table d.t, written statement by statement."""

    def __init__(self, folder, flavour="mysql"):
        self.path = folder / "binlog.000001"
        self.log = BinlogWriter(self.path, flavour=flavour)
        self.log.query("CREATE DATABASE d")
        self.table = None

    def ddl(self, sql):
        self.log.query(sql, "d")
        return self

    def create(self, sql):
        return self.ddl(sql).as_of(sql)

    def as_of(self, sql):
        """The table is as this CREATE TABLE says."""
        self.table = parse_statement(sql, default_database="d", flavour=self.log.flavour)[0].definition
        return self

    def insert(self, *ids, **columns):
        self.log.transactions([RowChanges(self.table, after={"id": pa.array(ids, pa.int32()), **columns})])
        return self

    def close(self):
        self.log.close()
        return str(self.path)


def test_the_shape_of_a_feed(orders):
    assert orders.column_names == ["id", "customer_id", "status", "total", "placed_at", "note", *OF_CHANGES]
    names = orders["_change_type"].cast(pa.string()).to_pylist()
    assert {name: names.count(name) for name in set(names)} == {
        "insert": 2227, "update_preimage": 1416, "update_postimage": 1416, "delete": 113}
    after = [names[place + 1] for place, name in enumerate(names) if name == "update_preimage"]
    assert set(after) == {"update_postimage"}
    assert orders["_present"].null_count == 4268
    part = [row for row in orders.to_pylist() if row["_present"] is not None and row["_change_type"] != "insert"]
    assert {tuple(row["_present"]) for row in part if row["_change_type"] != "update_postimage"} == {("id",)}
    assert all(row["status"] is None for row in part if "status" not in row["_present"])


def test_a_change_is_where_the_feed_says(orders):
    """GRP-1: the group at its version, with its GTID and its time."""
    row = orders.slice(1500, 1).to_pylist()[0]
    [group] = applier.locate(ARCHIVE, gtid=row["_gtid"])
    assert (group.file, group.start < row["_pos"] < group.end) == (row["_file"], True)
    assert row["_commit_version"] == int(group.file[-6:]) << 40 | group.end
    assert row["_commit_timestamp"] == datetime.fromtimestamp(group.timestamp, UTC)


def test_parts_of_the_log_add_up_to_all_of_it(orders, tmp_path):
    """By position, GTID set, time, and from a base; a version is the same whatever is read before it."""
    middle = applier.locate(ARCHIVE, time=datetime(2026, 3, 14, 10, 30, tzinfo=UTC))[0]
    place = f"{middle.file}:{middle.start}"
    base = applier.replay(ARCHIVE, tmp_path / "base", stop=place).snapshot
    for stop in (place, base.position, base.position.gtid_set, datetime(2026, 3, 14, 10, 30, tzinfo=UTC)):
        before = applier.changes(ARCHIVE, "shop.orders", stop=stop).to_arrow()
        after = applier.changes(ARCHIVE, "shop.orders", base=base).to_arrow()
        assert [*before.to_pylist(), *after.to_pylist()] == orders.to_pylist()
    schema = tmp_path / "schema.sql"
    schema.write_text("CREATE DATABASE shop; USE shop; " + base.tables["shop.orders"].definition + ";")
    after = applier.changes(ARCHIVE, "shop.orders", start=place, schema=schema).to_arrow()
    assert [*before.to_pylist(), *after.to_pylist()] == orders.to_pylist() and 0 < len(after) < len(orders)


def test_only_some_columns(orders):
    few = applier.changes(ARCHIVE, "shop.orders", columns=["status", "id"]).to_arrow()
    assert few.column_names == ["status", "id", *OF_CHANGES]
    assert few["status"].equals(orders["status"]) and few["id"].equals(orders["id"])
    none = applier.changes(ARCHIVE, "shop.orders", columns=[]).to_arrow()
    assert none.column_names == OF_CHANGES and len(none) == len(orders)
    with pytest.raises(applier.UsageError, match="no column 'nothing'"):
        applier.changes(ARCHIVE, "shop.orders", columns=["nothing"])


def test_for_those_who_read_arrow(orders):
    changes = applier.changes(ARCHIVE, "shop.orders")
    assert changes.schema.equals(orders.schema) and pa.table(changes).num_rows == len(orders)
    assert sum(batch.num_rows for batch in changes) == len(changes.to_pandas()) == len(orders)
    [(count, paid)] = duckdb.sql("SELECT count(*), count(*) FILTER (status = 'paid') FROM changes").fetchall()
    assert (count, paid) == (len(orders), pc.sum(pc.equal(orders["status"], "paid")).as_py())


def test_who_stops_early_reads_no_more(orders, monkeypatch):
    from applier.jobs.changes import single_images

    walked, real = [], single_images.segment_reader
    monkeypatch.setattr(single_images, "segment_reader", lambda segment, *rest, f=real: walked.append(segment)
                        or f(segment, *rest))
    batches = iter(applier.changes(ARCHIVE, "shop.orders"))
    assert next(batches).num_rows
    batches.close()
    assert len(walked) == 1
    assert len(applier.changes(ARCHIVE, "shop.orders").to_arrow()) == len(orders) and len(walked) > 3


def test_damage_stops_it_with_the_place(tmp_path):
    shutil.copytree(ARCHIVE, tmp_path / "backup")
    feed = applier.changes(tmp_path / "backup", "shop.orders")
    file = tmp_path / "backup" / "binlog.000002"
    data = bytearray(file.read_bytes())
    data[400_000] ^= 1
    file.write_bytes(data)
    with pytest.raises(applier.ArchiveError) as caught:
        feed.to_arrow()
    assert str(caught.value.file).endswith("binlog.000002")


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_rows_that_go_without_row_events(tmp_path, flavour):
    """DDL: TRUNCATE, DROP and a new table of the name, DROP; renamed columns are one, added ones null before."""
    log = Log(tmp_path, flavour).create("CREATE TABLE t (id INT PRIMARY KEY)").insert(1, 2)
    log.ddl("TRUNCATE TABLE t").insert(1).ddl("DROP TABLE t")
    log.create("CREATE TABLE t (id INT PRIMARY KEY, v INT)").insert(3, v=pa.array([7], pa.int32()))
    log.ddl("ALTER TABLE t RENAME COLUMN v TO w").ddl("DROP TABLE t")
    changes = applier.changes(log.close(), "d.t")
    assert kinds(changes) == ["insert", "insert", "truncate", "insert", "truncate", "insert", "truncate"]
    rows = changes.to_arrow().to_pylist()
    assert [(row["id"], row["w"]) for row in rows] == [(1, None), (2, None), (None, None), (1, None), (None, None),
                                                       (3, 7), (None, None)]
    versions = [row["_commit_version"] for row in rows]
    assert versions == sorted(versions) and len(set(versions)) == 7
    assert all(row["_gtid"] for row in rows)


def test_values_that_an_alter_converts_are_told(tmp_path):
    log = Log(tmp_path).create("CREATE TABLE t (id INT PRIMARY KEY, v INT)").insert(1, v=pa.array([7], pa.int32()))
    log.create("CREATE TABLE u (id INT PRIMARY KEY)").ddl("ALTER TABLE t DROP COLUMN v, ADD COLUMN w INT DEFAULT 5")
    changes = applier.changes(log.close(), "d.t")
    assert kinds(changes) == ["insert", "alter"]
    assert changes.schema.names[:3] == ["id", "w", "v"]


@pytest.mark.parametrize("mode", ["full", "noblob", "minimal"])
def test_json_diffs_are_those_that_show_prints(mode, capsys):
    """JD-TYPE, JD-SHOW: an after-image with a diff does not have the document."""
    case = Case(f"json-partial-{mode}")
    rows = applier.changes(case.binlogs, "js.small").to_arrow().to_pylist()
    found = [json.loads(row["_diffs"]) for row in rows if row["_diffs"] is not None]
    assert found and all(row[name] is None and name not in row["_present"]
                         for row in rows if row["_diffs"] for name in json.loads(row["_diffs"]))
    assert cli.main(["show", *map(str, case.binlogs), "--format", "json", "--tables", "js.small"]) == 0
    shown = []
    for line in capsys.readouterr().out.splitlines():
        shown += [value for value in (json.loads(line).get("after") or {}).values()
                  if value and re.match(r"JSON_[A-Z_]+\(", value)]
    assert [re.sub(r"`\w+`", "@", text) for one in found for text in one.values()] == [
        re.sub(r"@\d+", "@", text) for text in shown]


def test_names_that_the_feed_has_itself(tmp_path):
    file = Log(tmp_path).create("CREATE TABLE t (id INT PRIMARY KEY, _row INT)").close()
    with pytest.raises(applier.UsageError, match="column _row has the name of one of the feed's own columns"):
        applier.changes(file, "d.t")
    assert applier.changes(file, "d.t", columns=["id"]).to_arrow().num_rows == 0


@pytest.mark.parametrize("table", ["shop", "shop.*", "shop.a,shop.b", ""])
def test_what_is_no_table(table):
    with pytest.raises(applier.UsageError):
        applier.changes(ARCHIVE, table)


def test_a_table_that_nothing_defines():
    with pytest.raises(applier.SchemaError, match="this table has no definition") as caught:
        applier.changes(ARCHIVE, "shop.nothing")
    assert (caught.value.table, caught.value.mysql_errno) == ("shop.nothing", 1146)


def test_changes_of_several_tables_are_those_of_each_by_its_name():
    several = applier.changes(ARCHIVE, tables=["shop.orders", "shop.st*"], columns=[], statements=True)
    assert list(several) == ["shop.orders", "shop.stock"] and several.notes == ()
    for name, changes in several.items():
        alone = applier.changes(ARCHIVE, name, columns=[], statements=True)
        assert changes.to_arrow().equals(alone.to_arrow())
        assert several.position == changes.position == alone.position
    assert set(applier.changes(ARCHIVE, ignore_tables="shop.orders")) == set(applier.changes(ARCHIVE)) - {"shop.orders"}
    assert "shop.orders" in several and several.get("shop") is None


def test_complete_changes_of_several_tables_are_those_of_each():
    several = applier.changes(ARCHIVE, tables="shop.orders,shop.stock", complete=True)
    for name, changes in several.items():
        assert changes.to_arrow().equals(applier.changes(ARCHIVE, name, complete=True).to_arrow())


def test_a_named_table_without_changes_is_there_and_a_pattern_without_one_is_noted(tmp_path):
    log = Log(tmp_path).create("CREATE TABLE t (id INT PRIMARY KEY)").insert(1)
    log.ddl("CREATE TABLE other (id INT)").ddl("CREATE TABLE `a.b` (id INT)")
    several = applier.changes(log.close(), tables=["d.t", "d.other", "d.x*"])
    assert {name: changes.to_arrow().num_rows for name, changes in several.items()} == {"d.other": 0, "d.t": 1}
    assert several.notes == tuple(f"`tables` {name}: no change is of such a table" for name in ("d.other", "d.x*"))
    assert list(applier.changes(log.path, tables="d.`a.b`")) == ["d.a.b"]
    with pytest.raises(applier.SchemaError, match=r"d\.nothing"):
        applier.changes(log.path, tables=["d.t", "d.nothing"])
    with pytest.raises(applier.UsageError, match="`table` is one table"):
        applier.changes(log.path, "d.t", tables=["d.t"])
