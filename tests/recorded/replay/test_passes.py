"""A log that is larger than a pass: several passes hold what one pass holds, to the row, and say the same.

Tables with a key have the same rows in the same order; how these are divided into files may differ, as a later pass
leaves files alone in which nothing changes. Tables without a key are multisets of rows.
"""

import dataclasses
import json
import os
from contextlib import contextmanager, nullcontext
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.io import durable
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.snapshots_at import replay_with as replay_at
from applier.mysql import zero_dates
from applier.options import ImportOptions, ReplayOptions
from applier.plan import base_ranges, units
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.table_filter import TableFilter
from applier.snapshot import manifest
from applier.snapshot.reader import read_unit
from tests.support.folders import CASES
from tests.support.forked_runs import forked_runs
from tests.support.real_server import Case, differences
from tests.support.small_logs import commit, delete, held, insert, new_log, update

NAMES = sorted(path.name for path in CASES.iterdir() if (path / "binlog.000001").exists())
EXCHANGING = {"ddl-mysql-partitions", "mysql-partition-ddl", "mariadb-partition-ddl"}
"""Tables that exchange rows: the changes of all of them count for one, of those that one plan knows of."""

REFUSED = TableFilter(ignored=tuple(("ig", file.name.split(".")[1])
                                    for file in Case("mariadb-alter-ignore").expected().glob("ig.refused_*")))
"""Tables whose ALTER IGNORE is refused: what the others hold counts."""


def run(binlogs, output, progress=None, **options):
    """The result of a replay, or the error's text."""
    paths = tuple(map(str, binlogs)) if isinstance(binlogs, list) else (str(binlogs),)
    try:
        return replay_with(ThisProcess(2), ReplayOptions(paths, str(output), **options), progress)
    except ApplierError as error:
        assert not output.exists()
        return f"{type(error).__name__}: {error}"


def contents(folder):
    """A snapshot without the names of files: the manifest, rows by table, the list of conflicts."""
    snapshot, rows = manifest.load(str(folder)), {}
    for table in snapshot.tables:
        for kind, files in (("now", table.files), ("ever", table.history)):
            if files:
                read = pa.concat_tables([pq.read_table(folder / file.path, partitioning=None) for file in files])
                found = [repr(row) for row in read.to_pylist()]
                rows[table.full_name, kind] = found if table.key else sorted(found)
    tables = [dataclasses.replace(table, files=(), history=()) for table in snapshot.tables]
    conflicts = folder / "_conflicts.parquet"
    return (dataclasses.replace(snapshot, tables=tuple(tables), others=()), rows,
            pq.read_table(conflicts).to_pylist() if conflicts.exists() else None)


def said(result, counts=True):
    """A report without times and work, and without the snapshot's own place."""
    work = {"key": "", "files_written": 0, "files_carried": 0, "units": 0, "ranges": 0, "tied": "", "seconds": 0}
    tables = [dataclasses.replace(table, **work, **({} if counts else {"inserts": 0, "updates": 0, "deletes": 0,
                                                                       "found": {}}))
              for table in result.tables]
    return dataclasses.replace(result, snapshot="", tables=tables, seconds={}, units=0, route="")


def log_bytes(binlogs):
    return sum(file.stat().st_size for file in binlogs)


def holds_the_same(once, result, folder, counts=True):
    """Whether both replays ended alike, and nothing is left beside the output of the one in passes."""
    one, several = folder / "once", folder / "passes"
    if isinstance(once, str) or isinstance(result, str):
        assert result == once
    else:
        assert said(result, counts) == said(once, counts)
        assert contents(several) == contents(one)
        assert not (several / "_passes").exists()
        assert sum(table.files_written + table.files_carried for table in result.tables) == \
            sum(len(table.files) for table in manifest.load(str(several)).tables)
    assert {path.name for path in folder.iterdir()} <= {"once", "passes"}


@contextmanager
def few_rows_are_many():
    """Tables are divided into many units, also within the files of what the pass before has made."""
    with mock.patch.multiple(units, UNIT_BYTES=300, LEAST_UNIT_BYTES=1), \
            mock.patch.object(base_ranges, "HOT_BYTES", 1):
        yield


@pytest.mark.parametrize(("number", "name"), list(enumerate(NAMES)), ids=NAMES)
def test_recorded_logs_in_passes(number, name, tmp_path):
    """GRP-2, AP-SNAP: real logs, with DDL, XA transactions, foreign keys, partial images and conflicts across the ends
    of passes; errors are the same, too. Half of them are divided as if a few rows were many, base files among them."""
    binlogs = Case(name).binlogs
    for place, (mode, parts) in enumerate((("strict", 9), ("idempotent", 3))):
        folder = tmp_path / f"{mode} {parts}"
        folder.mkdir()
        once = run(binlogs, folder / "once", exec_mode=mode, filter=REFUSED)
        with few_rows_are_many() if (number // 2 + place) % 2 else nullcontext():
            result = run(binlogs, folder / "passes", exec_mode=mode, pass_bytes=log_bytes(binlogs) // parts + 1,
                         route=("walk", "shuffle")[(number + place) % 2], filter=REFUSED)
        holds_the_same(once, result, folder, counts=name not in EXCHANGING)


def test_of_several_refused_statements_the_first_is_named(tmp_path):
    """The same one in passes."""
    binlogs = Case("mariadb-alter-ignore").binlogs
    once = run(binlogs, tmp_path / "once")
    assert "IGNORE" in once and run(binlogs, tmp_path / "out", pass_bytes=log_bytes(binlogs) // 4) == once


@pytest.mark.parametrize("mode", ["strict", "idempotent"])
@pytest.mark.parametrize("name", ["key-moves-minimal", "ddl-mariadb", "fk-cascade-mysql"])
def test_passes_on_spark(spark, name, mode, tmp_path):
    """--engine spark, and the command line's own units."""
    binlogs = Case(name).binlogs
    once = run(binlogs, tmp_path / "once", exec_mode=mode)
    options = ReplayOptions(tuple(map(str, binlogs)), str(tmp_path / "passes"), exec_mode=mode, engine="spark",
                            master="local[2]", pass_bytes=log_bytes(binlogs) // 3 + 1)
    from applier.io.progress import Silent
    from applier.jobs.on_engine import replaying

    [result] = replaying.replay(options, Silent())
    holds_the_same(once, result, tmp_path)


@pytest.mark.parametrize("name", ["transactions-mysql", "transactions-mariadb", "compressed-mysql", "key-moves-full"])
def test_a_place_to_stop_at_within_a_pass(name, tmp_path):
    """GRP-2, GRP-4: by position and by GTIDs, at every mark that a server recorded."""
    case = Case(name)
    for mark in case.marks:
        for kind, stop in (("position", (mark.file, mark.offset)), ("gtid", mark.gtid_set)):
            if not stop:
                continue
            for parts in (2, 7):
                output = tmp_path / f"{mark.name} {kind} {parts}"
                options = {f"stop_{kind}": stop, "pass_bytes": log_bytes(case.binlogs) // parts}
                result = run(case.binlogs, output, **options)
                assert differences(output, case.expected(mark)) == []
                assert (result.position, result.gtid_set) == (str(mark), mark.gtid_set)


@pytest.mark.parametrize("name", ["base-dump-mysql", "base-dump-mariadb"])
def test_passes_on_top_of_a_dump(name, tmp_path):
    """GRP-5, GRP-7: also of one that says only by its transactions where it stands."""
    case = Case(name)
    text = (case.folder / "base.sql").read_bytes()
    for kind, dump in (("file", text), ("set", text.replace(b"_LOG_FILE", b"_NO_FILE"))):
        here, base = tmp_path / kind, tmp_path / f"base by {kind}"
        here.mkdir()
        (tmp_path / "base.sql").write_bytes(dump)
        import_dump(ImportOptions(str(tmp_path / "base.sql"), str(base)))
        assert bool(manifest.load(str(base)).position.file) == (kind == "file")
        once = run(case.binlogs, here / "once", base=str(base))
        result = run(case.binlogs, here / "passes", base=str(base), pass_bytes=1_000)
        assert differences(here / "passes", case.expected()) == []
        assert manifest.load(str(here / "passes")).source.base == str(base)
        holds_the_same(once, result, here)


@pytest.fixture
def unfinished(tmp_path):
    """Twelve transactions of 20 rows and more in three files, each a second after the one before, and the places at
    which they end; the last file is still to be closed."""
    folder = tmp_path / "logs"
    folder.mkdir()
    log, ends = new_log(folder, timestamp=1_700_000_000), []
    for number in range(12):
        if number in (4, 8):
            log = log.rotate(folder / f"binlog.{number // 4 + 1:06d}")
        log.timestamp = 1_700_000_000 + number
        rows = [(id, number, "x" * 20) for id in range(20 * number, 20 * number + 20)]
        moved = [update([(5, number - 1, "x" * 20)], [(5, number, "x" * 20)])] if number else []
        ends.append((os.path.basename(log.path), commit(log, insert(rows), *moved)[1]))
    return log, folder, ends


@pytest.fixture
def log(unfinished):
    """The folder with the files, and the places."""
    unfinished[0].close()
    return unfinished[1:]


@pytest.mark.parametrize("pass_bytes", [1, 700, 2_000, 4_500])
def test_passes_of_any_size(log, pass_bytes, tmp_path):
    """A group that is larger than a pass is one; also with a time to stop at, a base and a place to start at."""
    folder, ends = log
    options = {"stop_datetime": 1_700_000_007}, {}, {"start_position": ends[0], "base": str(tmp_path / "base")}, \
        {"base": str(tmp_path / "base")}, {"stop_gtid": "00000000-0000-4000-8000-000000000001:1-7"}
    run(folder, tmp_path / "base", stop_position=ends[0])
    for number, wanted in enumerate(options):
        here = tmp_path / str(number)
        here.mkdir()
        once = run(folder, here / "once", **wanted)
        holds_the_same(once, run(folder, here / "passes", pass_bytes=pass_bytes, **wanted), here)


def test_several_snapshots_in_passes(log, tmp_path):
    """--snapshot-at: each of them in passes of its own."""
    folder, ends = log
    places = ends[2], ends[9]
    options = ReplayOptions((str(folder),), str(tmp_path / "out"), snapshot_at=places, pass_bytes=2_000)
    for place, result in zip(places, replay_at(ThisProcess(2), options), strict=True):
        here = tmp_path / "out" / f"{place[0]}-{place[1]}"
        run(folder, tmp_path / f"once {here.name}", stop_position=place)
        assert (result.snapshot, result.position) == (str(here), f"{place[0]}:{place[1]}")
        assert held(here) == held(tmp_path / f"once {here.name}")
        assert not (here / "_passes").exists()
    assert manifest.load(str(here)).source.base == str(tmp_path / "out" / f"{ends[2][0]}-{ends[2][1]}")


def test_what_a_snapshot_does_not_know_goes_on(unfinished, tmp_path):
    """AP-FILT, AP-POS: tables that are left out are known to later passes, which may be made like them, and what the
    log made is not taken for a replica's own table that may have other columns."""
    log, folder, _ = unfinished
    options = {"schema": str(tmp_path / "schema.sql"), "filter": TableFilter((("shop", "item"), ("shop", "made")), ())}
    (tmp_path / "schema.sql").write_text("CREATE DATABASE other; CREATE TABLE other.left_out (id INT PRIMARY KEY)")
    log.query("CREATE TABLE shop.made LIKE other.left_out", "shop")
    log.close()
    here = tmp_path / "here"
    here.mkdir()
    once = run(folder, here / "once", **options)
    holds_the_same(once, run(folder, here / "passes", pass_bytes=2_000, **options), here)
    assert once.tables[1].full_name == "shop.made"


def test_what_is_published_is_durable_and_what_is_in_between_is_not(log, tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(durable, "sync_tree", synced.append)
    run(log[0], tmp_path / "out", pass_bytes=2_000)
    [root] = synced
    assert os.path.basename(root).startswith(".out.staging-")


class Notes:
    """Keeps what people are told."""

    def __init__(self):
        self.told = []

    def phase(self, name, total, what):
        pass

    def update(self, done, rows=0):
        pass

    def note(self, text):
        self.told.append(text)


def test_passes_show_in_the_log_line_only(log, tmp_path):
    notes = Notes()
    result = run(log[0], tmp_path / "out", notes, pass_bytes=4_500)
    numbers = [int(line.split(",")[0].removeprefix("pass ")) for line in notes.told]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 3 and result.notes == ()
    notes = Notes()
    run(log[0], tmp_path / "once", notes)
    assert notes.told == []


def test_an_error_in_a_later_pass_publishes_nothing(unfinished, tmp_path):
    """With the same text as in one pass; what earlier passes made is gone."""
    log, folder, _ = unfinished
    commit(log, delete([(4711, 1, "x")]))
    log.close()
    here = tmp_path / "here"
    here.mkdir()
    once = run(folder, here / "out")
    assert "4711" in once and run(folder, here / "out", pass_bytes=2_000) == once
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", ["zero-dates-mysql", "zero-dates-mariadb"])
def test_invalid_dates_that_are_gone_are_none(name, tmp_path):
    """--zero-dates error judges what the snapshot holds: not what ALTER has made texts and numbers of, but what it has
    made invalid dates of. In one pass and in several."""
    case = Case(name)
    result = run(case.binlogs, tmp_path / "out")
    held = 0
    for table in manifest.load(str(tmp_path / "out")).tables:
        schema = table_schema(TableDefinition.from_json(table.definition))
        rows = read_unit(str(tmp_path / "out"), table.files, schema)
        held += sum(int(zero_dates.which(column).sum()) for column in rows.columns if zero_dates.has_any(column))
    assert result.zero_dates == held > 0
    for parts in (1, 2, 5):
        pass_bytes = log_bytes(case.binlogs) // parts + 1
        assert run(case.binlogs, tmp_path / f"{parts}", pass_bytes=pass_bytes).zero_dates == held
        assert f"{held} dates are invalid" in run(case.binlogs, tmp_path / "refused", zero_dates="error",
                                                  pass_bytes=pass_bytes)


KILLED = """
import signal
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
class Killed(ThisProcess):
    plans = 0
    def walk(self, tasks, on_progress):
        done = super().walk(tasks, on_progress)
        self.plans += 1
        if self.plans == self.ends_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
def run(ends_at):
    executor = Killed(2)
    executor.ends_at = ends_at
    replay_with(executor, ReplayOptions((sys.argv[1],), sys.argv[2], route="walk", pass_bytes=4500))
    return executor.plans
"""
"""Of forked_runs: kills itself once it has applied its `ends_at`-th pass."""


def test_killed_within_a_pass(log, tmp_path):
    """Nothing is published, and the next run removes what is left, bases of passes among it."""
    folder, here = log[0], tmp_path / "here"
    here.mkdir()
    with forked_runs(KILLED, str(folder), str(here / "out")) as replay:
        for ends_at in (1, 2, 3):
            assert replay(ends_at) is None
            [left] = here.iterdir()
            assert left.name.startswith(".out.staging-")
            assert sorted(path.name for path in left.glob("_passes/[0-9]*")) == [str(n) for n in (ends_at - 1,) if n]
        assert replay(0) >= 3
    assert [path.name for path in here.iterdir()] == ["out"]
    run(folder, tmp_path / "once")
    assert held(here / "out") == held(tmp_path / "once")


def test_the_command(log, tmp_path, capsys):
    """--pass-bytes takes a size with a unit, 1M at least; the report does not tell passes."""
    words = ["replay", "--binlogs", str(log[0]), "--engine", "local", "--output"]
    assert cli.main([*words, str(tmp_path / "out"), "--pass-bytes", "1M"]) == 0
    assert cli.main([*words, str(tmp_path / "again"), "--pass-bytes", "0"]) == 2
    assert "is not a size" in capsys.readouterr().err
    assert json.loads((tmp_path / "out" / "_report.json").read_text())["notes"] == []
