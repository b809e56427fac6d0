"""`import applier`: the verbs as functions, snapshots as objects."""

import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import applier
from applier.api.calls.arguments import point, position, size
from applier.cli import main
from applier.snapshot import manifest
from docs import run_notebook, write_python
from tests.recorded.archives.demo_digest import ARCHIVE

pytestmark = pytest.mark.slow


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """The working directory, with the demo's archive in `backup`."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ARCHIVE, "backup")
    return tmp_path


def test_the_page_is_what_the_docstrings_say():
    assert write_python.PAGE.read_text() == write_python.page(), "make drawing"


def test_signatures_are_what_the_registry_says():
    for path, text in write_python.sources().items():
        assert path.read_text() == text, "make drawing"


def test_the_cells_of_the_notebook_show_what_it_says():
    pytest.importorskip("duckdb")
    assert run_notebook.PAGE.read_text() == run_notebook.page(), "make drawing"


def test_each_public_name_has_a_docstring_and_is_loaded_when_it_is_used():
    assert applier.__all__ == sorted(applier.__all__)
    assert set(applier.__all__) <= set(dir(applier))
    for name in applier.__all__:
        assert getattr(applier, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'reply'"):
        applier.reply  # noqa: B018


def test_nothing_slow_is_imported_before_it_is_used(archive):
    """Neither with the package nor with errors; Spark not even by a replay."""
    program = ("import sys, applier; applier.UsageError; early = set(sys.modules); applier.replay('backup', 'out'); "
               "import json; print(json.dumps([[name in loaded for name in ('numpy', 'pyarrow', 'numba', 'pyspark')] "
               "for loaded in (early, set(sys.modules))]))")
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert json.loads(shown)[0] == [False] * 4
    assert json.loads(shown)[1][3] is False


def test_a_replay_makes_what_the_command_line_makes(archive):
    made = applier.replay(Path("backup"), Path("here"), stop=datetime(2026, 3, 14, 10, 30, tzinfo=UTC),
                          tables=["shop.orders", "shop.stock"], target_file_size="1M")
    assert main(["replay", "--binlogs", "backup", "--output", "there", "--stop-datetime", "2026-03-14T10:30:00+00:00",
                 "--tables", "shop.orders,shop.stock", "--target-file-size", "1M", "--engine", "local"]) == 0
    here, there = (manifest.load(output) for output in ("here", "there"))
    assert (here.position, here.source) == (there.position, there.source)
    digests = [[(table.full_name, [file.digest for file in table.files]) for table in made.tables]
               for made in (here, there)]
    assert digests[0] == digests[1] and len(digests[0]) == 2
    assert made.report.position == str(there.position)


@pytest.mark.parametrize("place", [
    "binlog.000002:745606", ("binlog.000002", 745606), "its GTID set", "its position", "its GtidSet"])
def test_places_in_their_natural_types(archive, place):
    [group] = applier.locate("backup", time=datetime(2026, 3, 14, 10, 30, tzinfo=UTC))
    there = applier.replay("backup", "there", stop=(group.file, group.start)).snapshot
    place = {"its GTID set": there.position.gtid_set, "its position": there.position,
             "its GtidSet": applier.GtidSet.parse(there.position.gtid_set)}.get(place, place)
    assert applier.replay("backup", "again", stop=place).snapshot.position == there.position
    onto = applier.replay("backup", "onto", base=there, start=there.position)
    assert str(onto.snapshot.position) == "binlog.000003:176495"
    assert applier.locate("backup", gtid=group.gtid) == (group,)


def test_several_snapshots_out_of_one_pass(archive):
    """Those of the command line, in log order, with their reports."""
    there = applier.replay("backup", "there", stop=("binlog.000002", 745606)).snapshot
    for number, wanted in enumerate((["binlog.000003:176495", there.position.gtid_set],
                                     [("binlog.000003", 176495), there.position],
                                     "binlog.000003:176495,binlog.000002:745606")):
        made = applier.replay("backup", f"days-{number}", snapshot_at=wanted)
        first, last = made.snapshots
        assert (first.position, str(last.position)) == (there.position, "binlog.000003:176495")
        assert first.tables["shop.orders"].to_arrow().equals(there.tables["shop.orders"].to_arrow())
        assert made.snapshot is last and made.report is made.reports[1]
        assert [report.snapshot for report in made.reports] == [first.uri, last.uri]
    with pytest.raises(applier.UsageError, match="more than one place to stop"):
        applier.replay("backup", "no", stop=there.position, snapshot_at=[there.position])


def test_arguments_that_mean_nothing():
    for call, value in ((position, "uuid"), (position, applier.GtidSet.parse("0-1-5")), (size, 0),
                        (point, "a.000001:4,b.000001:4"), (size, "12"), (point, "2026-03-14")):
        with pytest.raises(applier.UsageError):
            call(value)


def test_a_callback_is_told_how_far_it_is(archive):
    steps = []
    applier.replay("backup", "out", progress=steps.append)
    assert all(isinstance(step, applier.Step) for step in steps)
    last = {step.phase: step for step in steps}
    assert (last["outline"].done, last["outline"].total, last["outline"].what) == (3, 3, "files of 2.3 MB")
    assert last["apply (walk)"].rows == 16801


def test_what_a_callback_raises_ends_the_replay(archive):
    def stop(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        applier.replay("backup", "out", progress=stop)
    assert not Path("out").exists()


def test_tables_for_those_who_read_arrow(archive):
    snapshot = applier.replay("backup", "out").snapshot
    orders = snapshot.tables["shop.orders"]
    read = pq.read_table("out/shop/orders")
    assert orders.to_arrow().equals(read) and pa.table(orders).equals(read) and len(orders) == orders.rows == len(read)
    few = orders.to_arrow(["id", "total"], filter=pc.field("status") == "sent")
    assert few.column_names == ["id", "total"] and 0 < len(few) < len(read)
    assert orders.to_pandas(["id"]).id.tolist() == read["id"].to_pylist()
    assert snapshot.sql("SELECT sum(total) FROM shop.orders").fetchall() == [(pc.sum(read["total"]).as_py(),)]
    assert orders.definition.startswith("CREATE TABLE") and orders.definition in snapshot.schema
    assert orders.files == tuple(f"out/{file.path}" for file in manifest.load("out").table("shop", "orders").files)
    assert orders.schema.equals(read.schema) and orders.key == ("id",) and orders.full_name == "shop.orders"
    assert sum(Path(file).stat().st_size for file in orders.files) == orders.bytes
    assert snapshot.verify().damaged == () and snapshot.report.changes == 16801
    assert "shop.orders" in repr(snapshot.tables) and "2,114" in repr(orders) and "6 tables" in repr(snapshot)
    with pytest.raises(KeyError):
        snapshot.tables["shop.nothing"]


def test_views_of_tables_with_any_name(tmp_path):
    (tmp_path / "d.sql").write_text('CREATE DATABASE `my "db`; USE `my "db`; CREATE TABLE `a b` (id INT PRIMARY KEY);\n'
                                    "INSERT INTO `a b` VALUES (7);\n")
    snapshot = applier.import_dump(tmp_path / "d.sql", tmp_path / "out", flavour="mysql").snapshot
    assert snapshot.sql('SELECT id FROM "my ""db"."a b"').fetchall() == [(7,)]


def test_tables_whose_full_names_are_one(tmp_path):
    """Dots may be in both parts. The snapshot can be read, and continued."""
    for made in (1, 2):
        with applier.binlog.Writer(tmp_path / f"binlog.00000{made}", executed=(made - 1) * 4) as log:
            for database, table in (("a.b", "t"), ("a", "b.t")):
                log.query(f"CREATE DATABASE IF NOT EXISTS `{database}`")
                log.query(f"CREATE TABLE IF NOT EXISTS `{database}`.`{table}` (id INT PRIMARY KEY)")
        applier.replay(tmp_path / f"binlog.00000{made}", lake=tmp_path / "lake")
    assert [*applier.Snapshot(tmp_path / "lake").tables] == ["`a`.`b.t`", "`a.b`.`t`"]


def test_names_that_duckdb_takes_for_one_are_refused(tmp_path):
    (tmp_path / "d.sql").write_text("CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE T "
                                    "(id INT PRIMARY KEY);\n")
    snapshot = applier.import_dump(tmp_path / "d.sql", tmp_path / "out", flavour="mysql").snapshot
    with pytest.raises(applier.UsageError, match="for one view"):
        snapshot.sql("SELECT 1")


def test_errors_are_the_ones_of_the_package(archive):
    with pytest.raises(applier.SnapshotError, match="no such file or directory"):
        applier.Snapshot("nowhere")
    applier.replay("backup", "out")
    with pytest.raises(applier.ApplierError, match="there is a snapshot already"):
        applier.replay("backup", "out")
    with pytest.raises(applier.UsageError, match="only one thing"):
        applier.locate("backup")


def test_a_dump_goes_out_and_comes_back(archive):
    snapshot = applier.replay("backup", "out").snapshot
    for format in ("sql", "tsv"):
        files = applier.export(snapshot, f"dump-{format}", format=format, tables="shop.orders")
        assert sum(file.rows for file in files) == 2114
    back = applier.import_dump("dump-sql", "back", position="binlog.000003:176495").snapshot
    assert back.tables["shop.orders"].to_arrow().equals(snapshot.tables["shop.orders"].to_arrow())
