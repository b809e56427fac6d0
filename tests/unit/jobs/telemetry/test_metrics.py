"""Metrics files: what runs of each job write, as Prometheus reads it and as JSON."""

import os
import re

import orjson
import pytest

import applier
from applier.cli import main
from applier.jobs.telemetry import run as runs
from applier.jobs.telemetry.figures import Figure
from applier.jobs.telemetry.files import prometheus
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.binlog_server import PASSWORD, BinlogServer

NAME = r"[a-z_:][a-z0-9_:]*"
LABEL = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})\{{({LABEL}(?:,{LABEL})*)\}} (-?[0-9.e+-]+)")


def parsed(text):
    """The samples of a file by name and labels. As Prometheus demands, each name has one HELP and one TYPE, before its
    samples, which stand together."""
    samples, described = {}, []
    for line in text.splitlines():
        if line.startswith("# HELP "):
            described.append(line.split()[2])
        elif line.startswith("# TYPE "):
            assert line.split()[2] == described[-1] and line.split()[3] in ("gauge", "counter")
            assert (line.split()[3] == "counter") == line.split()[2].endswith("_total")
        else:
            name, labels, value = SAMPLE.fullmatch(line).groups()
            assert name == described[-1]
            samples[name, labels] = float(value)
    assert len(described) == len(set(described))
    return samples


def test_a_replay(tmp_path):
    done = applier.replay(ARCHIVE, lake=tmp_path / "lake", metrics=[tmp_path / "a.prom", tmp_path / "a.json"])
    samples, output = parsed((tmp_path / "a.prom").read_text()), f'output="{tmp_path}/lake"'
    assert samples["applier_replay_success", output] == 1
    assert samples["applier_replay_changes", output] == 16801
    assert samples["applier_replay_position_file_number", output] == 3
    assert samples["applier_replay_position_offset_bytes", output] == 176495
    assert samples["applier_replay_position_timestamp_seconds", output] == done.report.timestamp
    assert samples["applier_replay_table_changes", f'{output},table="shop.stock",change="update"'] == 5543
    size = sum(file.stat().st_size for file in (tmp_path / "lake").glob("shop/*/*.parquet"))
    assert samples["applier_replay_written_bytes", output] == size
    assert samples["applier_replay_phase_duration_seconds", f'{output},phase="apply"'] > 0
    document = orjson.loads((tmp_path / "a.json").read_bytes())
    assert (document["job"], document["state"], document["error"]) == ("replay", "done", None)
    [result] = document["results"]
    assert result["position"] == "binlog.000003:176495" and len(result["tables"]) == 6
    assert sorted(os.listdir(tmp_path)) == ["a.json", "a.prom", "lake"], "nothing is left beside them"


def test_a_replay_that_fails(tmp_path, capsys):
    command = ["replay", "--binlogs", str(ARCHIVE), "--output", str(tmp_path / "out"), "--start-position",
               "binlog.000002:4", "--metrics", str(tmp_path / "a.prom"), "--metrics", str(tmp_path / "a.json")]
    assert main(command) in (1, 2)
    assert parsed((tmp_path / "a.prom").read_text())["applier_replay_success", f'output="{tmp_path}/out"'] == 0
    document = orjson.loads((tmp_path / "a.json").read_bytes())
    assert document["state"] == "failed" and document["error"]["message"].split(";")[0] in capsys.readouterr().err


def test_a_file_that_cannot_be_written_does_not_damage_the_run(tmp_path, capsys):
    with pytest.warns(applier.TelemetryWarning, match=r"none/a\.prom"):
        assert applier.replay(ARCHIVE, tmp_path / "one", metrics=tmp_path / "none/a.prom").report.changes == 16801
    command = ["replay", "--binlogs", str(ARCHIVE), "--output", str(tmp_path / "two"), "--metrics",
               str(tmp_path / "none/a.json")]
    assert main(command) == 0
    assert f"note: cannot write the metrics file {tmp_path}/none/a.json: no such file" in capsys.readouterr().err


def test_a_full_disk_keeps_the_file_before(tmp_path, monkeypatch):
    (tmp_path / "a.prom").write_text("before\n")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with runs.telemetry("replay", (), "out", [str(tmp_path / "a.prom")]), pytest.warns(
            applier.TelemetryWarning, match="No space left"):
        monkeypatch.setattr(runs, "EVERY_SECONDS", 0.0)
        runs.Run("replay", "out", [str(tmp_path / "a.prom")]).write("done", None)
        monkeypatch.undo()
    assert sorted(os.listdir(tmp_path)) == ["a.prom"]


@pytest.mark.parametrize("catalog", ["iceberg", "delta"])
def test_a_publication(tmp_path, catalog):
    applier.replay(ARCHIVE, tmp_path / "now")
    where = f"sqlite:///{tmp_path}/catalog.db" if catalog == "iceberg" else str(tmp_path / "delta")
    done = applier.publish(tmp_path / "now", **{catalog: where}, metrics=[tmp_path / "a.prom", tmp_path / "a.json"])
    samples = parsed((tmp_path / "a.prom").read_text())
    assert samples["applier_publish_tables", f'output="{where}",change="created"'] == 6
    assert samples["applier_publish_added_bytes", f'output="{where}"'] == sum(
        table.bytes_added for table in done.tables) > 0
    assert orjson.loads((tmp_path / "a.json").read_bytes())["position"] == "binlog.000003:176495"


def test_archiving(tmp_path, monkeypatch):
    """Every ten seconds, and at the end: the counters never go down."""
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    monkeypatch.setattr(runs, "EVERY_SECONDS", 0.0)
    written = []
    write = runs.write_metrics
    monkeypatch.setattr(runs, "write_metrics", lambda *given: (write(*given), written.append(
        orjson.loads((tmp_path / "a.json").read_bytes()))))
    with BinlogServer(ARCHIVE, "mysql") as server:
        done = applier.archive(server.url, tmp_path / "out", until_now=True,
                               metrics=[tmp_path / "a.prom", tmp_path / "a.json"])
    assert len(written) > 2 and written[-1]["state"] == "done" and {one["state"] for one in written[:-1]} == {"running"}
    assert [one["bytes"] for one in written] == sorted(one["bytes"] for one in written)
    assert written[-1]["bytes"] == done.bytes and written[-1]["connected"]
    samples, output = parsed((tmp_path / "a.prom").read_text()), f'output="{tmp_path}/out"'
    assert samples["applier_archive_received_bytes_total", output] == done.bytes
    assert samples["applier_archive_position_offset_bytes", output] == done.offset


def test_values_of_labels_and_helps_are_escaped():
    text = prometheus("x", 'a "b"\\\nc', [Figure("n", "gauge", "a\\b\nc", 1, {"table": 'd."\n\\'}),
                                          Figure("unknown", "gauge", "", None)]).decode()
    assert text.splitlines() == ["# HELP applier_x_n a\\\\b\\nc", "# TYPE applier_x_n gauge",
                                 'applier_x_n{output="a \\"b\\"\\\\\\nc",table="d.\\"\\n\\\\"} 1']
    assert len(parsed(text)) == 1
