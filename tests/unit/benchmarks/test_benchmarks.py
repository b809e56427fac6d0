"""The benchmarks' own parts: logs that hold what they say, measurements that measure, tables that line up."""

import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pytest

from applier.binlog.outline.outline_pass import outline_file
from applier.binlog.rows.changes import DELETE, INSERT, UPDATE
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from benchmarks import peers, stages, workloads
from benchmarks.__main__ import main
from benchmarks.changes import written
from benchmarks.measure import Family, command, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.results import with_tables

pytestmark = pytest.mark.slow

OF_CHANGED_ROWS = ["keyed", "keyless", "alike", "documents", "cascades"]


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("name", sorted({*workloads.NAMES} - {*OF_CHANGED_ROWS, "conflicts"}))
def test_workloads_are_archives_that_apply(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    """Two files, the second continuing where the first ends; every change finds its row, in tables that begin empty."""
    log = workloads.make(name, 3, str(tmp_path_factory.mktemp("logs")))
    outlines = [outline_file(file) for file in log.files]
    assert [outline.next_file for outline in outlines] == ["binlog.000002", None]
    assert not any(outline.torn or outline.unreplayable for outline in outlines)
    assert outlines[1].previous_gtids == outlines[0].gtids
    assert any(use.has_partial_images for outline in outlines for use in outline.tables) == (name == "minimal")
    tables = stages.AppliedTables(outlines)
    tables.apply()
    left = sum(rows.num_rows for rows in tables.rows())
    assert 0 < left <= tables.changes


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("name, exec_mode", [("conflicts", "idempotent"), *((n, "strict") for n in OF_CHANGED_ROWS)])
def test_workloads_of_rows_that_no_single_key_finds(tmp_path: Path, name: str, exec_mode: str) -> None:
    """They apply, and the one for idempotent mode meets a conflict in about a hundred changes."""
    log = workloads.make(name, 3, str(tmp_path))
    options = ReplayOptions(log.files, str(tmp_path / "out"), exec_mode=exec_mode)
    tables = replay_with(ThisProcess(2), options).tables
    conflicts, changes = (sum(map(of, tables)) for of in (lambda t: sum(t.conflicts.values()), lambda t: t.changes))
    assert changes > 2500 and sum(table.rows for table in tables) > 0
    assert (0.002 < conflicts / changes < 0.02) if name == "conflicts" else not conflicts


def test_before_images_are_what_the_rows_were(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A delete's before-image is the after-image of the change to its key before it."""
    log = workloads.make("oltp", 3, str(tmp_path_factory.mktemp("logs")))
    changes = stages.decoded_changes(log.files, "sbtest1").to_pylist()
    rows: dict[int, tuple] = {}
    for change in changes:
        row = change["k"], change["c"], change["pad"]
        if change["kind"] == DELETE:
            assert rows.pop(change["id"]) == row
        else:
            assert (change["id"] in rows) == (change["kind"] == UPDATE)
            rows[change["id"]] = row
    assert {change["kind"] for change in changes} == {INSERT, UPDATE, DELETE}
    assert sorted(rows) == list(range(1, len(rows) + 1))  # each delete is followed by an insert of its key


def test_engines_leave_the_same_rows(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What DuckDB is asked for is what the applier does, a key that stays deleted included."""
    log = workloads.make("uuid", 3, str(tmp_path_factory.mktemp("logs")))
    changes = stages.decoded_changes(log.files, "sbtest1")
    gone = changes.column("id")[0]
    deletion = pa.table(
        {
            **{name: changes.column(name)[:1] for name in ("id", "k", "c", "pad")},
            "kind": pa.array([DELETE], pa.uint8()),
            "seq": pa.array([len(changes)], pa.int64()),
        }
    ).select(changes.column_names)
    theirs = peers.with_duckdb(pa.concat_tables([changes, deletion]))()
    tables = stages.AppliedTables([outline_file(file) for file in log.files], "sbtest1")
    tables.apply()
    ours = pa.concat_tables(tables.rows()).select(["id", "k", "c", "pad"])
    ours = ours.cast(pa.schema([field.with_type(_as_decoded(field.type)) for field in ours.schema])).to_pylist()
    assert [row for row in ours if row["id"] != gone.as_py()] == theirs.select(["id", "k", "c", "pad"]).to_pylist()


def _as_decoded(type_: pa.DataType) -> pa.DataType:
    """A column's type in the changes that DuckDB is given: text is bytes there."""
    return pa.binary() if pa.types.is_string(type_) or pa.types.is_large_string(type_) else type_


def _burn(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def _burn_in_a_child(seconds: float) -> float:
    with Family() as family:
        in_child(_burn, seconds)
    return family.cost.cpu


@pytest.mark.thorough
def test_costs_are_those_of_the_work() -> None:
    cost = command(["python3", "-c", "x = bytearray(50_000_000); print('y' * 200_000)"])
    assert cost.cpu > 0 and cost.wall > 0 and cost.memory > 50_000_000
    with pytest.raises(subprocess.CalledProcessError) as failure:
        command(["python3", "-c", "import sys; sys.exit('no such thing')"])
    assert "no such thing" in failure.value.stderr
    assert _burn_in_a_child(0.5) >= 0.45


def test_tables_line_up() -> None:
    table = Table("Title", "Note.", ["what", "MB/s"], [["a | b", number(1234.5)], ["b", number(None)]])
    assert table.markdown().splitlines()[4:] == [
        "| what   |  MB/s |",
        "| ------ | ----: |",
        "| a \\| b | 1,230 |",
        "| b      |     – |",
    ]
    assert [number(value) for value in (9.7, 99.96, 0.0123)] == ["9.70", "100", "0.01"]
    assert (ratio(10, 4), ratio(None, 4), ratio(4, 0)) == ("2.50 ×", "–", "–")


def test_tables_that_are_measured_again_take_the_place_of_the_old_ones() -> None:
    first, second, third = (Table(title, "Note.", ["a"], [["1"]]) for title in ("One", "Two", "Three"))
    page = with_tables("", [first, second], "here", "2026-11-21")
    again = with_tables(page, [Table("One", "Note.", ["a"], [["2"]]), third], "there", "2026-11-22")
    assert again.splitlines()[0] == "Measured on: there" and again.endswith("Measured on 2026-11-22.\n")
    assert [line for line in again.splitlines() if line.startswith(("###", "Measured on 2", "| 1", "| 2"))] == [
        "### One", "| 2 |", "Measured on 2026-11-22.", "### Two", "| 1 |", "Measured on 2026-11-21.",
        "### Three", "| 1 |", "Measured on 2026-11-22."]
    assert with_tables(page, [], "here", "2026-11-23") == page


@pytest.mark.thorough
def test_the_command_measures_what_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--size", "0.5", "--only", "parquet"]) == 0
    before, after = capsys.readouterr().out.split("### Writing Parquet")
    assert "oltp, sbtest1" in after and "###" not in before + after
    for wrong in (["--size", "huge"], ["--only", "nothing"]):
        with pytest.raises(SystemExit):
            main(wrong)


def test_writing_changes_is_measured_by_what_is_written(tmp_path: Path) -> None:
    """JSON has one line per change, of at least the texts of its place in the log; Arrow a row for each image."""
    log = workloads.make("single", 3, str(tmp_path))
    lines, size, _ = written(log.files, ("bench", "sbtest1"), "json")
    rows, _, _ = written(log.files, ("bench", "sbtest1"), "arrow")
    assert 0 < lines < rows < 2 * lines and size > 100 * lines
