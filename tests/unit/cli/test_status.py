import json

import pyarrow as pa

import applier
from applier import cli
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import TableTarget, TableWriter
from tests.recorded.archives.demo_digest import ARCHIVE

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int32())})


def _entry(name, key, files, create):
    [statement] = parse_statement(create, default_database="shop", flavour="mysql", server_charset="utf8mb4")
    return TableEntry("shop", name, statement.definition, key, "int" if key else None, files)


def test_status_shows_position_source_and_tables(tmp_path, capsys):
    (tmp_path / "shop/orders").mkdir(parents=True)
    with TableWriter(TableTarget(str(tmp_path), "shop/orders"), 0, ROWS.schema, key=["id"], key_kind="int") as writer:
        writer.write(ROWS)
        files = tuple(writer.close())
    snapshot = manifest.Snapshot(
        manifest.BinlogPosition("binlog.000002", 1234, "u:1-5,\nv:7", 1773484199, "mysql"),
        (_entry("orders", ("id",), files, "CREATE TABLE orders (id INT PRIMARY KEY)"),
         _entry("heap", (), (), "CREATE TABLE heap (a INT)")),
        manifest.Source(tuple(f"binlog.00000{n}" for n in range(1, 6)), {"stop_datetime": 7}, "/lake/base"),
        "applier 9")
    (tmp_path / "_snapshot.json").write_bytes(snapshot.to_json())
    assert cli.main(["status", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    for part in ("binlog.000002:1234", "2026-03-14 10:29:59 UTC", "u:1-5,v:7", "mysql", "/lake/base", "stop_datetime=7",
                 "binlog.000001 to binlog.000005 (5 files)", "applier 9", str(tmp_path)):
        assert part in shown
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if " shop." in line}
    assert rows == {"shop.orders": ["3", str(files[0].bytes), "1", "id"], "shop.heap": ["0", "0", "0"]}


def test_status_of_a_snapshot_before_the_first_group(tmp_path, capsys):
    snapshot = manifest.Snapshot(manifest.BinlogPosition("binlog.000001", 4, "", None, "mariadb"), ())
    (tmp_path / "_snapshot.json").write_bytes(snapshot.to_json())
    assert cli.main(["status", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "before the first event group" in shown and "none: replays start at the first binlog" in shown


def test_status_says_how_far_a_lake_is_behind_an_archive(tmp_path, capsys):
    applier.replay(ARCHIVE, lake=tmp_path / "lake", stop="binlog.000002:745606")
    assert cli.main(["status", str(tmp_path / "lake"), "--binlogs", str(ARCHIVE)]) == 0
    assert "behind   2 files, 480,014 bytes, 535 transactions, 26,994 s" in capsys.readouterr().out
    assert cli.main(["status", str(tmp_path / "lake"), "--json", "--binlogs", str(ARCHIVE)]) == 0
    assert json.loads(capsys.readouterr().out)["behind"] == {
        "relation": "behind", "attach": {"file": "binlog.000002", "offset": 745606}, "obstacle": "",
        "distance": {"files": 2, "bytes": 480014, "transactions": 535, "seconds": 26994}}
    files = [str(ARCHIVE / f"binlog.00000{number}") for number in (1, 2)]
    assert cli.main(["status", str(tmp_path / "lake"), "--json", "--binlogs", *files]) == 0
    assert json.loads(capsys.readouterr().out)["behind"]["distance"]["files"] == 1
    applier.replay(ARCHIVE, lake=tmp_path / "lake")
    assert cli.main(["status", str(tmp_path / "lake"), "--binlogs", str(ARCHIVE)]) == 0
    assert "nothing: it is at the end" in capsys.readouterr().out
    assert cli.main(["status", "--delta", str(tmp_path), "--binlogs", str(ARCHIVE)]) == 2
