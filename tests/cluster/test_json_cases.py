"""Partial updates of JSON by real servers: what a replica held in the end, and where one stopped (JD-*)."""

import re

import pytest

from applier import cli
from applier.errors import ReplayStopped
from tests.support.real_server import Case, differences, replayed

both_routes = pytest.mark.parametrize("route", ["walk", "shuffle"])
IMAGES = ["json-partial-full", "json-partial-minimal", "json-partial-noblob"]
ERRORS = [("json-error-idempotent", "idempotent"), *((f"json-error-{what}", "strict") for what in (
    "replace", "remove", "insert", "insert-type", "null", "second"))]
MARKS = [pytest.param(name, mark, id=f"{name}@{mark.name}") for name in IMAGES for mark in Case(name).marks]


def imported(case, folder):
    """The tables that a case's replica begins with, as a snapshot."""
    assert cli.main(["import", str(case.folder / "target.sql"), "--output", str(folder / "base")]) == 0
    return str(folder / "base")


@both_routes
@pytest.mark.parametrize("name", [*IMAGES, "json-partial-odd"])
def test_diffs_of_every_kind(name, route, tmp_path):
    """JD-TYPE, JD-WIRE, JD-READ, JD-ENC: diffs, full values and NULLs, several JSON columns, the same row many times,
    large documents, rows without a key."""
    replayed(Case(name), tmp_path / "out", route=route)
    assert differences(tmp_path / "out", Case(name).expected()) == []


@both_routes
@pytest.mark.parametrize("name, mark", MARKS)
def test_diffs_at_marks(name, mark, route, tmp_path):
    """GRP-2, JD-READ: at a mark, and from there to the end, where documents come from the base."""
    case, middle, end = Case(name), tmp_path / "middle", tmp_path / "end"
    replayed(case, middle, route=route, mark=mark)
    assert differences(middle, case.expected(mark)) == []
    replayed(case, end, route=route, base=str(middle))
    assert differences(end, case.expected()) == []


@both_routes
def test_documents_that_differ_from_the_sources(route, tmp_path):
    """JD-EQ, JD-DIV: diffs that can be followed are applied to what is there."""
    case = Case("json-diverged")
    replayed(case, tmp_path / "out", route=route, base=imported(case, tmp_path))
    assert differences(tmp_path / "out", case.expected()) == []


@both_routes
@pytest.mark.parametrize("name, mode", ERRORS)
def test_a_diff_that_does_not_fit_stops_the_replay(name, mode, route, tmp_path):
    """JD-SAFE2, JD-NULL, APP-R7: 3648 with the row's place and key; replaying to where the hint says gives what the
    replica held at its stop, whose transaction was rolled back. Idempotent mode does not suppress it."""
    case, output = Case(name), tmp_path / "out"
    base = imported(case, tmp_path)
    with pytest.raises(ReplayStopped) as caught:
        replayed(case, output, route=route, base=base, exec_mode=mode)
    error = caught.value
    assert not output.exists()
    assert (error.mysql_errno, error.exit_code, error.table, error.row, error.key) == \
        (3648, 1, "js.t", 0, "PRIMARY (id) = 2")
    assert "column j" in error.message and "$." in error.message and error.gtid.endswith(":2")
    assert "ERROR 3648" in (case.folder / "expected_error.txt").read_text()
    stop = re.search(r"--stop-position (\S+):(\d+);", error.hint)
    replayed(case, output, route=route, base=base, exec_mode=mode, stop_position=(stop[1], int(stop[2])))
    assert differences(output, case.expected()) == []
