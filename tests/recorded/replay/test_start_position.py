"""`--start-position`: a replay that begins at a place, and says what it leaves out (GRP-2)."""

import json

import pytest

from applier.engine.executor import ThisProcess
from applier.errors import UsageError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.real_server import Case
from tests.support.small_logs import commit, held, insert, new_log

SOURCE = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def log(tmp_path):
    """Three files of two transactions each, which insert rows 1 to 6; where each of them begins and ends."""
    places = []
    writer = new_log(tmp_path)
    for number in range(1, 7):
        begin, end = commit(writer, insert([(number, 0, "x")]))
        places.append((f"binlog.{(number + 1) // 2:06d}", begin, end))
        if number in (2, 4):
            writer = writer.rotate(tmp_path / f"binlog.{number // 2 + 1:06d}")
    writer.close()
    return places


def run(tmp_path, name, **options):
    output = tmp_path / name
    return output, replay_with(ThisProcess(), ReplayOptions((str(tmp_path / "binlog.0*"),), str(output), **options))


def test_from_each_border_on_top_of_a_base(log, tmp_path):
    """In two steps it is what it is in one, and the report says so."""
    for number, (file, _, end) in enumerate(log[:-1], 1):
        base, _ = run(tmp_path, f"base{number}", stop_position=(file, end))
        output, result = run(tmp_path, f"out{number}", base=str(base), start_position=(file, end))
        assert [row[0] for row in held(output)] == [1, 2, 3, 4, 5, 6]
        assert result.position == f"{log[-1][0]}:{log[-1][2]}" and result.gtid_set == f"{SOURCE}:1-7"
        [note] = json.loads((output / "_report.json").read_text())["notes"]
        assert note == f"--start-position {file}:{end} continues where the base ends: no transaction is left out, or " \
                       "comes twice"
        options = json.loads((output / "_snapshot.json").read_text())["source"]["options"]
        assert options["start_position"] == f"{file}:{end}"


def test_what_is_left_out_is_said(log, tmp_path):
    base, _ = run(tmp_path, "base", stop_position=(log[0][0], log[0][2]))
    output, result = run(tmp_path, "out", base=str(base), start_position=log[3][:2])
    assert [row[0] for row in held(output)] == [1, 4, 5, 6]
    [note] = result.notes
    assert f"transactions {SOURCE}:3-4 came before --start-position binlog.000002:" in note and "left out" in note


def test_what_the_base_has_is_passed_over(log, tmp_path):
    base, _ = run(tmp_path, "base", stop_position=(log[2][0], log[2][2]))
    output, result = run(tmp_path, "out", base=str(base), start_position=log[1][:2], exec_mode="idempotent")
    assert [row[0] for row in held(output)] == [1, 2, 3, 4, 5, 6]
    assert result.notes == ("the base has 2 of the transactions after --start-position: they are skipped",)
    output, result = run(tmp_path, "again", base=str(base), start_position=log[1][:2], exec_mode="idempotent",
                         reapply=True)
    assert f"transactions {SOURCE}:3-4 are in the base" in result.notes[0] and "again" in result.notes[0]


def test_with_a_schema_file(log, tmp_path):
    (tmp_path / "s.sql").write_text("CREATE DATABASE shop; USE shop; "
                                    "CREATE TABLE item (id INT NOT NULL PRIMARY KEY, n INT, s VARCHAR(20));")
    output, result = run(tmp_path, "out", schema=str(tmp_path / "s.sql"), start_position=log[4][:2])
    assert [row[0] for row in held(output)] == [5, 6]
    assert result.notes == (f"transactions {SOURCE}:1-5 came before --start-position binlog.000003:{log[4][1]} and are "
                            "not replayed",)


@pytest.mark.parametrize("by", [1, 30, 100])
def test_within_a_group_its_borders_are_named(by, log, tmp_path):
    """GRP-2: a start is never within a group."""
    file, begin, end = log[2]
    with pytest.raises(UsageError) as caught:
        run(tmp_path, "out", start_position=(file, begin + by))
    assert f"from {begin} to {end}" in str(caught.value) and f"{file}:{begin}" in caught.value.hint
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("start, says", [(("binlog.000009", 4), "not in the archive"),
                                         (("binlog.000002", 1 << 20), "past the end")])
def test_a_place_that_the_archive_does_not_have(start, says, log, tmp_path):
    with pytest.raises(UsageError, match=says):
        run(tmp_path, "out", start_position=start)


def test_marks_of_a_real_archive(tmp_path):
    """From the snapshot at each mark, started at the mark by name: what a replay from the base alone makes."""
    case = Case("checksum-changes")
    [mark] = case.marks
    paths = tuple(map(str, case.binlogs))

    def digest(name, **options):
        replay_with(ThisProcess(), ReplayOptions(paths, str(tmp_path / name), **options))
        snapshot = json.loads((tmp_path / name / "_snapshot.json").read_text())
        return snapshot["position"], [(table["name"], sum(file["rows"] for file in table["files"]))
                                      for table in snapshot["tables"]]

    digest("base", stop_position=(mark.file, mark.offset))
    base = str(tmp_path / "base")
    assert digest("a", base=base) == digest("b", base=base, start_position=(mark.file, mark.offset))
