"""--json prints one document with what the verb finds, and nothing else on stdout."""

import json
import os

import pytest

from applier import cli
from tests.recorded.archives.demo_digest import ARCHIVE


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    place = str(tmp_path_factory.mktemp("made") / "now")
    assert cli.main(["-q", "replay", "--binlogs", str(ARCHIVE), "--output", place, "--engine", "local"]) == 0
    return place


@pytest.fixture
def said(capsys):
    """The document that a command line prints, and its exit code."""
    def run(*words, code=0):
        assert cli.main([*words, "--json"]) == code
        return json.loads(capsys.readouterr().out)
    return run


def test_status(said, snapshot, capsys):
    """CREATE TABLEs are there if asked for; a file of people's has the same facts."""
    found = said("status", snapshot)
    assert found["snapshot"] == snapshot and found["file"].startswith("binlog.") and found["offset"] > 4
    orders = next(table for table in found["tables"] if table["table"] == "shop.orders")
    assert orders["rows"] > 0 and orders["sorted_by"] == ["id"] and "definition" not in orders
    whole = said("status", snapshot, "--definitions")["tables"]
    assert all(table["definition"].startswith("CREATE TABLE") for table in whole)
    for more, has in (([], False), (["--definitions"], True)):
        assert cli.main(["status", snapshot, *more]) == 0
        shown = capsys.readouterr().out
        assert ("CREATE TABLE" in shown) is has and f"{found['file']}:{found['offset']}" in shown


def test_report(said, snapshot, capsys, tmp_path):
    found = said("report", snapshot)
    assert found["snapshot"] == snapshot and found["exec_mode"] == "strict" and found["first_conflicts"] == []
    assert {table["name"] for table in found["tables"]} >= {"orders", "order_items"}
    page = tmp_path / "report.html"
    assert said("report", snapshot, "--html", str(page)) == found and page.stat().st_size


def test_locate(said):
    [found] = said("locate", "--binlogs", str(ARCHIVE), "--datetime", "2026-03-14 10:30:00 UTC")
    assert set(found) == {"file", "start", "end", "timestamp", "gtid", "xid", "group_id"}
    assert found["start"] < found["end"]
    assert said("locate", "--binlogs", str(ARCHIVE), "--gtid", found["gtid"]) == [found]


def test_explain(said):
    found = said("explain", "--binlogs", str(ARCHIVE), "--tables", "shop.orders")
    [table] = {one["table"] for one in found["tables"]}
    assert table == "shop.orders" and found["definitions"][0]["name"] == "shop.orders"
    searches = [search for one in found["tables"] for search in one["searches"]]
    assert searches and all(search["by"] == "primary" and search["columns"] == ["id"] and search["reads"] == "one row"
                            for search in searches)


def test_verify(said, snapshot, tmp_path):
    """The exit code says the same as the document."""
    found = said("verify", snapshot)
    assert found["same"] and found["damaged"] == [] and found["files"] > 1
    assert found["rows"] == sum(table["rows"] for table in said("status", snapshot)["tables"])
    stray = f"{snapshot}/stray.parquet"
    with open(stray, "w"):
        found = said("verify", snapshot, code=2)
    os.unlink(stray)
    assert not found["same"] and "stray.parquet" in found["damaged"][0]


def test_doctor(said):
    assert said("doctor", "--binlogs", str(ARCHIVE), "--engine", "local")["problems"] == 0


def test_undo(said, tmp_path):
    """The tables, the rows that stay as they are, and the statements for afterwards."""
    mistake = "20810cc3-e548-11f1-a5e4-02fc00000001:1928"
    found = said("undo", "--binlogs", str(ARCHIVE), "--gtids", mistake, "--output", f"{tmp_path}/undo.sql")
    assert (found["output"], found["format"], found["transactions"]) == (f"{tmp_path}/undo.sql", "sql", 1)
    assert found["gtids"] == [mistake, mistake] and found["times"][0].startswith("2026-03-14T10:30:00")
    [table] = [table for table in found["tables"] if table["updated"]]
    assert (table["name"], table["updated"]) == ("shop.products", 140)
    assert {"statement": "SELECT COUNT(*) FROM `shop`.`products`", "expected": 140} in found["checks"]
    assert found["conflicts"] == [] and found["proof"][0].startswith("Proof: ")
