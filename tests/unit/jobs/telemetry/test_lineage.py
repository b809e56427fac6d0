"""OpenLineage events: what is sent at both ends of a run, and under which names."""

import http.server
import threading

import orjson
import pytest

import applier
from applier.jobs.telemetry.lineage import dataset_of
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.binlog_server import PASSWORD, BinlogServer


def events_in(file):
    return [orjson.loads(line) for line in file.read_text().splitlines()]


def test_a_replay(tmp_path):
    """Both events are of one run and one job. The second one has the tables, with rows and bytes, and the position."""
    done = applier.replay(ARCHIVE, lake=tmp_path / "lake", lineage=tmp_path / "events.json")
    start, complete = events_in(tmp_path / "events.json")
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert start["run"]["runId"] == complete["run"]["runId"] and start["job"]["name"] == complete["job"]["name"]
    assert start["job"]["namespace"] == "applier" and start["job"]["name"] == f"replay.file.{tmp_path}/lake"
    assert [(one["namespace"], one["name"]) for one in start["inputs"]] == [("file", str(ARCHIVE))]
    facets = {one["name"]: one["outputFacets"]["outputStatistics"] for one in complete["outputs"]}
    assert sorted(facets) == sorted(f"{tmp_path}/lake/{table.database}/{table.name}" for table in done.report.tables)
    stock = facets[f"{tmp_path}/lake/shop/stock"]
    size = sum(file.stat().st_size for file in (tmp_path / "lake/shop/stock").iterdir())
    assert (stock["rowCount"], stock["size"], stock["fileCount"]) == (5963, size, 1)
    position = complete["run"]["facets"]["applier_position"]
    assert (position["position"], position["gtidSet"]) == (done.report.position, done.report.gtid_set)


def test_a_replay_that_fails(tmp_path):
    with pytest.raises(applier.ApplierError) as raised:
        applier.replay(ARCHIVE, tmp_path / "out", start="binlog.000002:4", lineage=tmp_path / "events.json")
    _, failed = events_in(tmp_path / "events.json")
    assert failed["eventType"] == "FAIL"
    assert failed["run"]["facets"]["errorMessage"]["message"] == str(raised.value)


def test_a_publication_reads_what_a_replay_wrote(tmp_path):
    applier.replay(ARCHIVE, lake=tmp_path / "lake", lineage=tmp_path / "events.json")
    catalog = f"sqlite:///{tmp_path}/catalog.db"
    applier.publish(tmp_path / "lake", iceberg=catalog, lineage=tmp_path / "events.json")
    applier.publish(tmp_path / "lake/_versions/1", delta=tmp_path / "delta", lineage=tmp_path / "events.json")
    _, replayed, _, published, _, in_folders = events_in(tmp_path / "events.json")
    written = sorted(one["name"] for one in replayed["outputs"])
    assert written == sorted(one["name"] for one in published["inputs"])
    assert written == sorted(one["name"] for one in in_folders["inputs"])
    assert (catalog, "shop.stock") in [(one["namespace"], one["name"]) for one in published["outputs"]]
    assert f"{tmp_path}/delta/shop/stock" in [one["name"] for one in in_folders["outputs"]]


def test_archiving(tmp_path, monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    with BinlogServer(ARCHIVE, "mysql") as server:
        url = server.url
        done = applier.archive(url, tmp_path / "out", until_now=True, lineage=tmp_path / "events.json")
    _, complete = events_in(tmp_path / "events.json")
    [log], [archive] = complete["inputs"], complete["outputs"]
    assert (log["namespace"], log["name"]) == (url.replace("repl@", ""), "binlog")
    assert archive["name"] == f"{tmp_path}/out"
    assert archive["outputFacets"]["outputStatistics"]["size"] == done.bytes


@pytest.mark.parametrize("uri, table, expected", [
    ("/lake/shop", "", ("file", "/lake/shop")),
    ("file:///lake/a%20b", "", ("file", "/lake/a b")),
    ("s3://bucket/lake/shop?region=eu&endpoint_override=x", "", ("s3://bucket", "lake/shop")),
    ("s3://key:secret@bucket/lake", "", ("s3://bucket", "lake")),
    ("gs://bucket", "", ("gs://bucket", "/")),
    ("abfss://box@account.dfs.core.windows.net/lake", "", ("abfss://box@account.dfs.core.windows.net", "lake")),
    ("hdfs://name:8020/lake", "", ("hdfs://name:8020", "/lake")),
    ("postgresql://me:secret@host:5432/catalog", "d.t", ("postgresql://host:5432/catalog", "d.t")),
    ("prod", "d.t", ("prod", "d.t")),
])
def test_names_of_datasets(uri, table, expected):
    """As OpenLineage's naming rules say, without passwords and options."""
    assert dataset_of(uri, table) == expected


def test_events_are_posted(tmp_path, monkeypatch):
    got = []

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, self.headers["Authorization"], orjson.loads(body)["eventType"]))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *_):
            pass

    monkeypatch.setenv("OPENLINEAGE_API_KEY", "secret")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        applier.replay(ARCHIVE, tmp_path / "out", lineage=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert got == [("/api/v1/lineage", "Bearer secret", "START"), ("/api/v1/lineage", "Bearer secret", "COMPLETE")]


def test_events_that_cannot_be_sent_do_not_damage_the_run(tmp_path):
    with pytest.warns(applier.TelemetryWarning, match="cannot send the lineage"):
        done = applier.replay(ARCHIVE, tmp_path / "out", lineage=tmp_path / "none/events.json")
    assert done.report.changes == 16801


def test_without_the_package(tmp_path, monkeypatch):
    """Before anything is read or written."""
    monkeypatch.setitem(__import__("sys").modules, "openlineage", None)
    with pytest.raises(applier.NotInstalled, match=r"\[lineage\]"):
        applier.replay(ARCHIVE, tmp_path / "out", lineage=tmp_path / "events.json")
    assert not (tmp_path / "out").exists()
