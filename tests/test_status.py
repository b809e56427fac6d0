from applier import cli
from applier.snapshot import manifest


def test_status_shows_position_source_and_tables(tmp_path, capsys):
    files = (manifest.FileEntry("shop/orders/0.parquet", 1000, 5000, 1, 2),
             manifest.FileEntry("shop/orders/1.parquet", 234, 9, 3, 4))
    snapshot = manifest.Snapshot(
        manifest.BinlogPosition("binlog.000002", 1234, "u:1-5,\nv:7", 1773484199, "mysql"),
        (manifest.TableEntry("shop", "orders", {}, ("id",), "int", files), manifest.TableEntry("shop", "heap", {})),
        manifest.Source(tuple(f"binlog.00000{n}" for n in range(1, 6)), {"stop_datetime": 7}, "/lake/base"),
        "applier 9")
    (tmp_path / "_snapshot.json").write_bytes(snapshot.to_json())
    assert cli.main(["status", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    for part in ("binlog.000002:1234", "2026-03-14 10:29:59 UTC", "u:1-5,v:7", "mysql", "/lake/base", "stop_datetime=7",
                 "binlog.000001 to binlog.000005 (5 files)", "applier 9", str(tmp_path)):
        assert part in shown
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if " shop." in line}
    assert rows == {"shop.orders": ["1,234", "5,009", "2", "id"], "shop.heap": ["0", "0", "0"]}


def test_status_of_a_snapshot_before_the_first_group(tmp_path, capsys):
    snapshot = manifest.Snapshot(manifest.BinlogPosition("binlog.000001", 4, "", None, "mariadb"), ())
    (tmp_path / "_snapshot.json").write_bytes(snapshot.to_json())
    assert cli.main(["status", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "before the first event group" in shown and "none: from the first binlog on" in shown
