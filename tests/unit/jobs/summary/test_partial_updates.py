"""Updates with JSON diffs are counted, by `summary` and by a replay (JD-WIRE)."""

import json

import pytest

import applier
import applier.binlog
from applier import cli
from jsondiff import Diff, Operation, path
from tests.support.real_server import Case

LONG = json.dumps({"a": "x" * 500, "n": 1})
SMALL = Diff(Operation.REPLACE, path.parse("$.n"), 2)


@pytest.fixture(params=[False, True], ids=["plain", "compressed"])
def log(request, tmp_path):
    """Three rows with diffs of four documents, of which the before-images have three."""
    made = tmp_path / "binlog.000001"
    with applier.binlog.Writer(made, compress=request.param) as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE d.t (id INT PRIMARY KEY, j JSON, v VARCHAR(9), k JSON)")
        log.query("CREATE TABLE d.other (id INT PRIMARY KEY, v INT)")
        rows = {"id": [1, 2, 3], "j": [LONG] * 3, "v": ["x", None, "y"], "k": [LONG] * 3}
        with log.transaction():
            log.insert("d.t", rows)
            log.insert("d.other", {"id": [1], "v": [1]})
        with log.transaction():
            log.update("d.t", {name: values[:2] for name, values in rows.items()}, {"j": [[SMALL]] * 2}, diffs=["j"])
        with log.transaction():
            log.update("d.t", {"id": [3], "k": [LONG]}, {"j": [[SMALL]], "k": [[SMALL]]}, diffs=["j", "k"])
        with log.transaction():
            log.update("d.other", {"id": [1], "v": [1]}, {"v": [2]})
    return made


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_replay_counts_what_a_summary_counts(log, route, tmp_path, capsys):
    """Diffs of documents that the before-image lacks save nothing that the log tells."""
    summary = applier.summary(log)
    assert (summary.partial_updates, summary.documents) == (3, 4)
    assert 3 * 480 < summary.bytes_saved < 3 * 520
    counts = {table.table: (table.partial_updates, table.documents, table.bytes_saved) for table in summary.tables}
    assert counts == {"d.t": (3, 4, summary.bytes_saved), "d.other": (0, 0, 0)}
    assert json.loads(json.dumps(summary.to_json()))["tables"][0]["partial_updates"] == 3
    report = applier.replay(log, tmp_path / "snapshot", route=route).report
    assert {table.full_name: (table.partial_updates, table.documents, table.bytes_saved)
            for table in report.tables} == counts
    words = f"3 partial updates with diffs of 4 JSON documents, {summary.bytes_saved:,} bytes less than the documents"
    for command in (["summary", "--binlogs", str(log)], ["report", str(tmp_path / "snapshot")]):
        assert cli.main(command) == 0
        assert words in " ".join(capsys.readouterr().out.split())
    assert "bytes saved by diffs" in summary.to_html()
    assert cli.main(["report", str(tmp_path / "snapshot"), "--html", str(tmp_path / "page.html")]) == 0
    assert "bytes saved by diffs" in (tmp_path / "page.html").read_text()


def test_ranges_of_a_table_and_passes_count_once(tmp_path):
    """Each change counts in the unit that takes it."""
    made, n = tmp_path / "binlog.000001", 20_000
    with applier.binlog.Writer(made) as log:
        log.query("CREATE TABLE d.t (id INT PRIMARY KEY, j JSON)")
        rows = {"id": list(range(n)), "j": [LONG] * n}
        with log.transaction():
            log.insert("d.t", rows)
        with log.transaction():
            log.update("d.t", rows, {"j": [[SMALL]] * n}, diffs=["j"])
    report = applier.replay(made, tmp_path / "snapshot", target_file_size="1M", pass_bytes="12M").report
    assert (report.partial_updates, report.documents) == (n, n)
    assert report.bytes_saved == applier.summary(made).bytes_saved > 0


@pytest.mark.parametrize("name", ["json-partial-full", "json-partial-noblob", "json-partial-odd"])
def test_real_logs(name, tmp_path):
    """Also of tables without a key, and of tables that are dropped, which a report does not have."""
    binlogs = [str(path) for path in Case(name).binlogs]
    counts = {table.table: (table.partial_updates, table.documents, table.bytes_saved)
              for table in applier.summary(binlogs).tables}
    for number, options in enumerate(({}, {"route": "shuffle"}, {"pass_bytes": 20_000})):
        report = applier.replay(binlogs, tmp_path / str(number), **options).report
        found = {table.full_name: (table.partial_updates, table.documents, table.bytes_saved)
                 for table in report.tables if table.changes}
        assert found == {name: counts[name] for name in found} and any(of[1] for of in found.values())
