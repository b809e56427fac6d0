"""Late attempts of tasks: whatever they write, and whenever, no reader of the published files sees it."""

import os
import pathlib
from contextlib import suppress

import pytest

import applier
from applier.io.progress import Silent
from applier.jobs.changes.job import ChangeLog
from applier.jobs.exporting.job import export_snapshot
from applier.jobs.exporting.task import export_file
from applier.jobs.history.files import write_history
from applier.jobs.history.job import row_history
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.snapshots_at import replay_with as replay_to_places
from applier.options import ChangesOptions, ExportOptions, ReplayOptions
from applier.plan import units
from applier.snapshot import publish
from applier.snapshot.attempts import all_written_at
from applier.snapshot.files.file_settings import FileSettings
from applier.snapshot.manifest import BinlogPosition, Snapshot, load
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import TableWriter
from tests.support.late_attempts import Attempts, LateAttempts
from tests.support.small_logs import commit, insert, new_log, update
from tests.unit.snapshot.publishing_run import ROWS, definition

LOGGED = [(n, n, "x" * 20) for n in range(3000)]
CHANGED = [(n, -n if n < 1500 else n, s) for n, _, s in LOGGED]
SMALL = {"_snapshot.json", "_schema.sql", "_report.json"}


@pytest.fixture(params=["beside", "mount"])
def output(request, tmp_path, monkeypatch):
    """An output that is renamed when it is complete, and one that is written in place."""
    if request.param == "mount":
        monkeypatch.setattr(os.path, "ismount", lambda path: path.endswith("/out"))
    return str(tmp_path / "new/out")


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """An archive that takes several units, and where its first transaction ends."""
    monkeypatch.setattr(units, "UNIT_BYTES", 10_000)
    monkeypatch.setattr(units, "LEAST_UNIT_BYTES", 1)
    (tmp_path / "logs").mkdir()
    with new_log(tmp_path / "logs") as log:
        _, middle = commit(log, insert(LOGGED))
        commit(log, update(LOGGED[:1500], CHANGED[:1500]))
    return str(tmp_path / "logs"), ("binlog.000001", middle)


def files(folder):
    return {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if path.is_file()}


def named(folder):
    return {file.path for table in load(folder).tables for file in table.files}


def rows(folder):
    return [tuple(row.values()) for row in applier.Snapshot(folder).tables["shop.item"].to_arrow().to_pylist()]


def test_an_attempt_is_late_at_any_time(output):
    """Its files are open when those that count are moved, or it begins to write after that, or after publication."""
    def attempt(target):
        writer = TableWriter(target, 0, ROWS.schema, key=["id"], key_kind="int")
        writer.write(ROWS)
        return writer

    with publish.begin(output, FileSettings(file_bytes=1), late_attempts=True) as staging:
        target = staging.target("shop", "orders")
        counts, complete, unfinished = attempt(target), attempt(target), attempt(target)
        written = counts.close()
        assert len(written) == len(complete.close()) == ROWS.num_rows
        staging.finish_attempts(all_written_at(file.path for file in written))
        for late in (unfinished.close, lambda: attempt(target).close()):
            with suppress(OSError):
                late()
        table = TableEntry("shop", "orders", definition("orders"), ("id",), "int", tuple(written))
        staging.commit(Snapshot(BinlogPosition("binlog.000001", 4, "", None, "mysql"), (table,)), "", {})
    with pytest.raises(OSError):
        attempt(target)
    assert files(output) == {*(file.path for file in written), *SMALL}


@pytest.mark.parametrize("n_passes", [1, 2])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_replays(logs, output, route, n_passes):
    """Each pass has late attempts of its own."""
    archive, (_, middle) = logs
    executor = LateAttempts(2)
    result = replay_with(executor, ReplayOptions((archive,), output, route=route,
                                                 pass_bytes=middle if n_passes == 2 else None))
    before = files(output)
    assert executor.attempts.n == n_passes and result.tables[0].files_written > 3
    assert executor.attempts.run_again() == n_passes
    assert files(output) == before == {*named(output), *SMALL}
    assert rows(output) == CHANGED


def test_replays_onto_a_base_and_foreign_keys(logs, output, tmp_path):
    """Files that are carried over are no attempt's; --check-foreign-keys reads files before they are published."""
    archive, middle = logs
    base = str(tmp_path / "base")
    replay_with(LateAttempts(), ReplayOptions((archive,), base, stop_position=middle))
    result = replay_with(LateAttempts(), ReplayOptions((archive,), output, base=base, check_foreign_keys=True))
    assert result.tables[0].files_carried > 3 and result.tables[0].files_written > 3
    assert files(output) == {*named(output), *SMALL} and rows(output) == CHANGED


def test_several_snapshots(logs, output):
    archive, (name, offset) = logs
    executor = LateAttempts(2)
    replay_to_places(executor, ReplayOptions((archive,), output, snapshot_at=((name, offset), (name, offset + 1))))
    before = files(output)
    executor.attempts.run_again()
    assert files(output) == before
    assert rows(f"{output}/{name}-{offset}") == LOGGED


def test_exports(logs, output, tmp_path):
    base, attempts = str(tmp_path / "base"), Attempts()
    replay_with(LateAttempts(), ReplayOptions((logs[0],), base))
    done = export_snapshot(ExportOptions(base, output), run=lambda tasks, _: attempts.tasks(export_file, tasks),
                           late_attempts=True)
    before = files(output)
    assert attempts.run_again() == attempts.n > 3
    assert files(output) == before == {"_schema.sql", "_load.sh", *(file.target for file in done)}


def test_histories(logs, output):
    history, attempts = row_history(ChangeLog(ChangesOptions((logs[0],), complete=True)), ("shop", "item")), Attempts()
    made = write_history(history, output, 2, attempts.tasks, Silent(), late_attempts=True)
    before = files(output)
    assert attempts.run_again() == attempts.n > 0
    assert files(output) == before == {"_history.json", *(file.file for file in made.files)}
    assert made.rows == len(LOGGED) + 1500


def test_a_lake_names_no_late_attempt(logs, tmp_path):
    """Tasks of a lake write files where they belong, since readers go by manifests: what is late is a stray."""
    lake, executor = str(tmp_path / "lake"), LateAttempts(2)
    replay_with(executor, ReplayOptions((logs[0],), lake=lake))
    assert executor.attempts.run_again() == 0
    assert rows(lake) == CHANGED and not applier.fsck(lake).damaged
    assert len(applier.fsck(lake).strays) == 2 * len(named(lake))
    applier.expire(lake, 1)
    assert rows(lake) == CHANGED
