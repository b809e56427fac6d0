"""`follow` on an archive in an object store: it grows, old objects go, and the follower is killed."""

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

import applier
from applier.binlog.locating.groups import GroupPass
from applier.snapshot.files import location
from tests.support.forked_runs import forked_runs
from tests.support.object_store import object_store
from tests.support.real_server import Case

pytestmark = pytest.mark.slow
ARCHIVE = "s3://logs/db"


@pytest.fixture(scope="module")
def endpoint():
    with object_store("logs") as found:
        yield found


@pytest.fixture
def store(endpoint):
    """Puts and removes objects of the archive."""
    filesystem, root = location.resolve(ARCHIVE)

    def put(name, data):
        if not data:
            filesystem.delete_file(f"{root}/{name}")
            return
        with filesystem.open_output_stream(f"{root}/{name}") as out:
            out.write(data)

    yield put
    filesystem.delete_dir_contents(root, missing_dir_ok=True)


def files_of(name):
    return sorted(Case(name).binlogs[0].parent.glob("*.0*"))


def identities(changes):
    columns = ["_change_type", "_commit_version", "_seq", "_gtid", "_file", "_pos", "_row"]
    return changes.to_arrow().select(columns).to_pylist()


@pytest.mark.by_turns("whole_files", one_in=2)
@pytest.mark.parametrize("name", ["transactions-mysql", "transactions-mariadb"])
@pytest.mark.parametrize("whole_files", [False, True])
def test_an_archive_that_grows_and_is_purged(store, tmp_path, name, whole_files):
    """An object is replaced by a longer one, up to anywhere, or comes whole; runs end before they acknowledge, and
    start again. Objects go that are behind the state."""
    asked = {"ignore_foreign_keys": True}
    files, turns, found = files_of(name), random.Random(5), {}
    tables = [f"tx.{table}" for table in "abm"]
    expected = {table: identities(applier.changes(str(files[0].parent), table, **asked)) for table in tables}
    sizes = [file.stat().st_size for file in files]
    steps = [(number, size) for number, size in enumerate(sizes)] if whole_files else [
        (number, end) for number, size in enumerate(sizes)
        for end in [*sorted(turns.sample(range(200, size), min(5, size - 200))), size]]
    for number, end in steps:
        store(files[number].name, files[number].read_bytes()[:end])
        for run in range(2):
            for batch in applier.follow(ARCHIVE, tables, state=tmp_path / "state", until_now=True,
                                        batch_bytes=turns.choice([2000, 1 << 20]), **asked):
                rows = {table: identities(changes) for table, changes in batch.items()}
                assert found.setdefault(batch.number, rows) == rows
                if run == 0 and turns.random() < 0.3:
                    break
                batch.acknowledge()
    together = {table: [row for _, batch in sorted(found.items()) for row in batch.get(table, [])] for table in tables}
    assert together == expected and sum(map(len, together.values())) > 20


def test_objects_behind_the_state_may_go(store, tmp_path):
    """And copies of far files do not outlive them."""
    seen = []

    def read():
        for batch in applier.follow(ARCHIVE, "d.t", state=tmp_path / "state", until_now=True):
            seen.extend(batch["d.t"].to_arrow()["id"].to_pylist())
            batch.acknowledge()

    folder = tmp_path / "log"
    folder.mkdir()
    with applier.binlog.Writer(folder / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        for number in range(1, 9):
            with log.transaction():
                log.insert("d.t", {"id": [number]})
            log.rotate(folder / f"binlog.{number + 1:06}")
            name = f"binlog.{number:06}"
            store(name, (folder / name).read_bytes())
            if number % 3:
                read()
            if number > 3:
                store(f"binlog.{number - 3:06}", b"")
    read()
    assert seen == [*range(1, 9)]


FOLLOWER = """
import applier
def run(ends_at):
    touched = 0
    def killed_at(event, arguments):
        nonlocal touched
        if event in ("open", "os.mkdir", "os.rename", "os.remove", "os.listdir"):
            touched += 1
            if touched == ends_at:
                os.kill(os.getpid(), 9)
    sys.addaudithook(killed_at)
    archive, state, sink = sys.argv[1:]
    for batch in applier.follow(archive, "d.t", state=state, until_now=True, batch_bytes="1M"):
        path = f"{sink}/{batch.number:06}"
        with open(path + ".new", "w") as file:
            print(*batch["d.t"].to_arrow()["id"].to_pylist(), file=file)
        os.replace(path + ".new", path)
        batch.acknowledge()
    return touched
"""
"""Of forked_runs: kills itself before it touches a file for the `ends_at`-th time; returns how often it touched one."""


def test_a_follower_that_is_killed(store, tmp_path):
    """Anywhere, while the archive grows by replaced objects."""
    folder, sink, turns, killed = tmp_path / "log", tmp_path / "sink", random.Random(7), 0
    folder.mkdir()
    sink.mkdir()
    with forked_runs(FOLLOWER, ARCHIVE, str(tmp_path / "state"), str(sink)) as run, \
            applier.binlog.Writer(folder / "binlog.000001") as log:
        touched = 0
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        for number in range(1, 25):
            with log.transaction():
                log.insert("d.t", {"id": [number]})
            log.flush()
            path = Path(log.position[0])
            store(path.name, path.read_bytes())
            if number % 6 == 0:
                log.rotate(folder / f"binlog.{number // 6 + 1:06}")
                store(path.name, path.read_bytes())
            if number % 4 == 0:
                ended = run(turns.randint(1, touched) if touched else 0)
                touched, killed = touched or ended, killed + (ended is None)
        assert run(0) and killed >= 3
    found = [int(id) for path in sorted(sink.glob("[0-9]*[0-9]")) for id in path.read_text().split()]
    assert found == [*range(1, 25)]


def test_an_object_that_is_another_log(store, tmp_path):
    """The server was reset, and its first file comes again: none of its changes is skipped silently."""
    def log(ids, path, day):
        with applier.binlog.Writer(path, time=datetime(2026, 3, day, tzinfo=UTC)) as writer:
            writer.query("CREATE DATABASE d")
            writer.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
            for id in ids:
                with writer.transaction():
                    writer.insert("d.t", {"id": [id]})
        return path.read_bytes()

    def read():
        for batch in applier.follow(ARCHIVE, "d.t", state=tmp_path / "state", until_now=True):
            yield batch["d.t"].to_arrow()["id"].to_pylist()
            batch.acknowledge()

    before, after = log(range(5), tmp_path / "before", 14), log(range(50, 60), tmp_path / "after", 15)
    store("binlog.000001", before)
    assert list(read()) == [[*range(5)]]
    for end in [int(end) for end in GroupPass(str(tmp_path / "after")).groups().ends]:
        store("binlog.000001", after[:end])
        with pytest.raises(applier.ArchiveError):
            list(read())
