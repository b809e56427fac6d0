"""What an object store is asked for: each byte of a log once a pass over all processes, many requests at a time, none
where nothing is new; and what happens where it does not answer, or does not allow the request."""

import os
import subprocess
import sys
import threading
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import fs

import applier
from applier.cli import main
from applier.engine.executor import ThisProcess
from applier.errors import SnapshotError, StoreUnavailable
from applier.io import mapping, partial_copy, transient
from applier.io.resolver import resolve
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from tests.support import spark_servers
from tests.support.counted_store import counted_store
from tests.support.folders import ROOT
from tests.support.object_store import ENVIRONMENT
from tests.support.packing import pack_archive
from tests.support.small_logs import ITEM, commit, insert, new_log, update

N_FILES = 40

DRIVER = """
import sys
from applier.cli import main
from applier.jobs.replay import outlining
outlining.SPLIT_BYTES = 1 << 20
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def store():
    with counted_store("lake") as found:
        yield found


@pytest.fixture(autouse=True)
def counted(request):
    """What this process keeps of far files goes before and after."""
    store = request.getfixturevalue("store")
    mapping.forget_copies()
    store.begin()
    yield
    mapping.forget_copies()
    store.delay, store.refuse = 0.0, lambda verb, path: None


def put(folder, name):
    """The files of a folder, in the store; and how many bytes they have."""
    fs.copy_files(str(folder), f"lake/{name}", destination_filesystem=fs.FileSystem.from_uri("s3://lake")[0])
    return sum(path.stat().st_size for path in folder.iterdir())


@pytest.fixture(scope="module")
def tiny(store, tmp_path_factory):
    """More files than a process keeps mappings of local ones, each of a few transactions; and their size."""
    folder = tmp_path_factory.mktemp("tiny")
    log = new_log(folder)
    for number in range(1, N_FILES + 1):
        commit(log, insert([(number * 10 + n, n, "x" * 20) for n in range(10)]))
        log = log.rotate(folder / f"binlog.{number + 1:06d}") if number < N_FILES else log
    log.close()
    return "s3://lake/tiny", put(folder, "tiny")


@pytest.fixture(scope="module")
def large(store, tmp_path_factory):
    """Two files of several MB: of several splits, and of several chunks."""
    folder = tmp_path_factory.mktemp("large")
    log = new_log(folder)
    ids = np.arange(100_000, dtype=np.int32)
    for number in (1, 2):
        for first in range(0, 100_000, 2000):
            own = pa.array(ids[first:first + 2000] + number * 100_000)
            with log.transaction():
                log.rows(RowChanges(ITEM, after={"id": own, "n": own, "s": pa.array(["x" * 20] * 2000)}))
        log = log.rotate(folder / "binlog.000002") if number == 1 else log
    log.close()
    return "s3://lake/large", put(folder, "large")


def of_replay(logs, tmp_path):
    return replay_with(ThisProcess(2), ReplayOptions((logs,), str(tmp_path / "out"))).changes


def of_summary(logs, _):
    return applier.summary(logs).rows.rows


def of_changes(logs, _):
    return sum(batch.num_rows for batch in applier.changes(logs, "shop.item"))


@pytest.mark.parametrize("job", [of_replay, of_summary, of_changes])
def test_a_file_is_fetched_once_and_many_at_a_time(store, tiny, tmp_path, job):
    """Two requests a file: one opens it, one reads it. Reading whether the first one is a relay log takes two more."""
    logs, size = tiny
    store.delay = 0.05
    assert job(logs, tmp_path) == 10 * N_FILES
    verbs = store.verbs("/lake/tiny/")
    assert verbs["GET"] <= N_FILES + 1 and verbs["HEAD"] <= N_FILES + 1, verbs
    assert store.read("/lake/tiny") < 1.2 * size and store.most_at_once > 4


@pytest.mark.parametrize("job", [of_replay, of_summary, of_changes])
def test_a_large_file_is_fetched_once(store, large, tmp_path, monkeypatch, job):
    """In parts, at the same time."""
    monkeypatch.setattr(partial_copy, "PART_BYTES", 512 << 10)
    logs, size = large
    store.delay = 0.05
    assert job(logs, tmp_path) == 200_000
    assert size <= store.read("/lake/large") < 1.05 * size and store.most_at_once > 4


def test_no_read_is_tiny(store, tiny, large, tmp_path):
    """A request for a few bytes costs what one for some thousands does."""
    for logs, _ in (tiny, large):
        of_replay(logs, tmp_path / logs.rpartition("/")[2])
    asked = [(request.path, *request.range) for request in store.requests if request.verb == "GET" and request.range]
    ends = {path: max(last for of, _, last in asked if of == path) for path, _, _ in asked}
    assert asked and all(last - first >= 8191 or last == ends[path] for path, first, last in asked)


def test_what_is_not_read_is_not_fetched(store, large, tmp_path):
    """Up to a place in the first file: its bytes up to there, and its end, which says whether the server was shut
    down."""
    logs, size = large
    replay_with(ThisProcess(2), ReplayOptions((logs,), str(tmp_path / "out"), stop_position=("binlog.000001", 500_000)))
    assert store.read("/lake/large") < 500_000 + 4 * partial_copy.CHUNK_BYTES < size / 4


def test_a_round_with_nothing_new_reads_no_log(store, tiny):
    logs, _ = tiny
    made = applier.replay(logs, lake="s3://lake/versions", engine="local")
    mapping.forget_copies()
    store.begin()
    again = applier.replay(logs, lake="s3://lake/versions", engine="local")
    assert again.snapshot.uri == made.snapshot.uri and "nothing after" in again.report.notes[-1]
    assert set(store.verbs("/lake/tiny")) <= {"HEAD", "LIST"} and store.read("/lake/tiny") == 0
    assert not any(request.path.startswith("/lake/tiny/") and request.verb == "HEAD" for request in store.requests)


def test_waves_are_answers_that_are_waited_for(store):
    """Requests at the same time are one wave, however many they are."""
    with resolve("s3://lake")[0].open_output_stream("lake/small") as small:
        small.write(b"x")

    def ask():
        filesystem, path = resolve("s3://lake/small")
        assert filesystem.get_file_info(path).size == 1

    with store.in_waves():
        partial_copy.at_once([ask] * 20)
        assert (store.round_trips, len(store.requests)) == (1, 20)
        for _ in range(3):
            ask()
    assert (store.round_trips, len(store.requests)) == (4, 23)


@pytest.fixture
def scattered(tmp_path):
    """The files of a log: rows, and twice updates all over the table."""
    log = new_log(tmp_path)
    rows = [(n, n, f"{n * 7919 % 1_000_003:x}") for n in range(150_000)]
    for first in range(0, len(rows), 10_000):
        commit(log, insert(rows[first:first + 10_000]))
    for number in (2, 3):
        log = log.rotate(tmp_path / f"binlog.{number:06d}")
        changed = rows[number::2000]
        commit(log, update(changed, [(id, n + 1, text) for id, n, text in changed]))
    log.close()
    return [str(tmp_path / f"binlog.{number:06d}") for number in (1, 2, 3)]


@pytest.mark.parametrize(("size", "files"), [
    (400_000, range(1, 4)), pytest.param(25_000, range(21, 99), marks=pytest.mark.thorough)])
def test_round_trips_of_a_merging_lake(store, scattered, size, files):
    """A round with changes in all files: the same for many files as for few. Latency is nearly all that it takes."""
    lake = f"s3://lake/trips-{size}"
    applier.replay(scattered[0], lake=lake, merge_on_read=True, target_file_size=size)
    applier.replay(scattered[1], lake=lake, engine="local")
    with store.in_waves():
        assert applier.replay(scattered[2], lake=lake, engine="local").report.changes == 75
    assert len(manifest.load(lake).tables[0].files) in files
    assert store.round_trips <= 22
    assert store.verbs()["POST"] == 0, "multipart uploads take three requests"


def test_an_index_is_answered_by_a_listing(store, tiny, tmp_path):
    logs, _ = tiny
    (tmp_path / "index").mkdir()
    (tmp_path / "index/binlog.index").write_text("".join(f"./binlog.{n:06d}\n" for n in range(1, N_FILES + 1)))
    put(tmp_path / "index", "tiny")
    assert of_summary(f"{logs}/binlog.index", None) == 10 * N_FILES
    assert store.verbs("/lake/tiny/")["HEAD"] <= N_FILES + 4


@pytest.mark.thorough
def test_nodes_of_a_cluster_read_their_splits(store, large, spark_cluster):
    """A pass outlines files, another one decodes splits: each reads the log once, over all nodes together. Executors
    have directories of their own, so that they share no copies, as on several machines."""
    logs, size = large
    environment = [word for name in (*ENVIRONMENT, "AWS_ENDPOINT_URL")
                   for word in ("--conf", f"spark.executorEnv.{name}={os.environ[name]}")]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, "replay", "--binlogs", logs, "--output", "s3://lake/of-cluster", "--master",
         spark_cluster, "--route", "shuffle", *environment],
        env=os.environ | spark_servers.ENVIRONMENT | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(applier.Snapshot("s3://lake/of-cluster").tables["shop.item"].to_arrow()) == 200_000
    assert size < store.read("/lake/large") < 2.2 * size


class Refusing:
    """Refuses requests of some verbs below a path with a status: the first `times` for each object."""

    def __init__(self, status, verbs=("GET", "HEAD"), below="/lake/tiny/", times=1):
        self.status, self.verbs, self.below, self.times = status, verbs, below, times
        self._seen, self._lock = Counter(), threading.Lock()

    def __call__(self, verb, path):
        if verb not in self.verbs or not path.startswith(self.below):
            return None
        with self._lock:
            self._seen[verb, path] += 1
            return self.status if self._seen[verb, path] <= self.times else None


@pytest.fixture
def no_pauses(monkeypatch):
    monkeypatch.setattr(transient.time, "sleep", lambda seconds: None)


@pytest.mark.parametrize("status", [503, *(pytest.param(other, marks=pytest.mark.thorough) for other in (429, 500))])
def test_what_a_busy_store_does_not_answer_is_asked_again(store, tiny, tmp_path, no_pauses, status):
    store.refuse = Refusing(status)
    assert of_replay(tiny[0], tmp_path) == 10 * N_FILES


def test_packed_files_are_asked_for_again_too(store, tiny, tmp_path, no_pauses):
    (tmp_path / "plain").mkdir()
    fs.copy_files("lake/tiny/binlog.000001", str(tmp_path / "plain/binlog.000001"),
                  source_filesystem=fs.FileSystem.from_uri("s3://lake")[0])
    pack_archive((tmp_path / "plain").iterdir(), tmp_path / "packed", ["zstd"])
    put(tmp_path / "packed", "packed")
    store.refuse = Refusing(503, below="/lake/packed/")
    assert of_replay("s3://lake/packed", tmp_path) == 10


@pytest.mark.parametrize("verbs", [("GET",), pytest.param(("HEAD", "LIST"), marks=pytest.mark.thorough)])
def test_a_store_that_stays_busy_ends_a_run_so_that_it_is_started_again(store, tiny, tmp_path, no_pauses, monkeypatch,
                                                                        capsys, verbs):
    monkeypatch.setattr(transient, "ATTEMPTS", 1)  # the store's client makes several of its own
    store.refuse = Refusing(503, verbs, "/lake", times=1 << 30)
    assert main(["replay", "--binlogs", tiny[0], "--output", str(tmp_path / "out"), "--engine", "local"]) == 75
    assert "the store did not answer" in capsys.readouterr().err


@pytest.fixture(scope="module")
def lake(store, tiny):
    applier.replay(tiny[0], lake="s3://lake/checked", engine="local")
    return "s3://lake/checked"


@pytest.mark.parametrize("below", ["/lake/checked/shop", "/lake/checked/_versions", "/lake/checked/LATEST"])
def test_what_may_not_be_read_is_no_damage(store, lake, capsys, below):
    assert applier.fsck(lake).damaged == ()
    store.refuse = Refusing(403, below=below, times=1 << 30)
    with pytest.raises((SnapshotError, OSError), match=r"(?i)not allowed|ACCESS_DENIED"):
        applier.fsck(lake)
    assert main(["fsck", lake]) == 2
    assert "damaged" not in capsys.readouterr().out


@pytest.mark.thorough
def test_a_check_that_a_busy_store_ends(store, lake):
    store.refuse = Refusing(503, ("GET",), below="/lake/checked/shop", times=1 << 30)
    with pytest.raises(StoreUnavailable):
        applier.fsck(lake)
