"""Tables never break a number: columns fall away below 100, and names are cut in the middle."""

import io
import os
import re
import subprocess
import sys

import pytest

from applier.cli.output.grids import Grid
from applier.cli.terminal import ResultConsole
from tests.support.folders import ROOT
from tests.unit.cli.record_tables import FOLDER, WIDTHS, make_snapshots, printed, recorded


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("made"))
        make_snapshots()
        yield


@pytest.mark.parametrize("columns", WIDTHS)
def test_tables_are_as_recorded(columns, snapshots):
    """After a change that is meant: python -m tests.unit.cli.record_tables"""
    text = recorded(columns)
    assert text == (FOLDER / f"tables_{columns}.txt").read_text(), "python -m tests.unit.cli.record_tables"


@pytest.mark.parametrize("columns", [40, 60, 80, 99, 100, 140])
def test_no_number_is_broken(columns, snapshots):
    """Whatever the width, each number that a table shows is one that the widest shows."""
    numbers = r"(?<![\w.,:-])\d[\d,]*(?![\w.,:-])"
    known = set(re.findall(numbers, printed(200, ["report", "now"])))
    table = printed(columns, ["report", "now"]).partition("now stands at")[0]
    found = set(re.findall(numbers, table))
    assert found and found <= known
    assert max(map(len, table.splitlines())) <= columns


def shown(grid, columns):
    out = io.StringIO()
    grid.print(ResultConsole(file=out, width=columns))
    return out.getvalue()


def test_names_are_cut_in_the_middle():
    """The beginning and the end tell tables apart."""
    grid = Grid("table", "rows", "units", less=("units",))
    grid.add("warehouse_of_the_north.orders_2026_01", 1_234_567_890, 7)
    grid.add("warehouse_of_the_north.orders_2026_02", 5, 8)
    assert "warehouse_of_the_north.orders_2026_01" in shown(grid, 100) and "units" in shown(grid, 100)
    narrow = shown(grid, 40)
    assert "1,234,567,890" in narrow and "units" not in narrow
    assert re.search(r"warehouse\w*….*2026_01 ", narrow) and re.search(r"warehouse\w*….*2026_02 ", narrow)


def test_numbers_without_room_fall_away_from_the_right():
    grid = Grid("table", "first", "second", "third")
    grid.add("a.b", 10**15, 10**15 + 1, 10**15 + 2)
    narrow = shown(grid, 55)
    assert "1,000,000,000,000,000" in narrow and "1,000,000,000,000,001" in narrow and "third" not in narrow


@pytest.mark.parametrize("environment", [{}, {"FORCE_COLOR": "1"}, {"CLICOLOR_FORCE": "1", "TERM": "xterm-256color"}])
def test_a_pipe_gets_no_colours(environment, snapshots):
    done = subprocess.run([sys.executable, "-m", "applier", "report", "now"], capture_output=True, text=True,
                          env=os.environ | environment | {"PYTHONPATH": str(ROOT)}, check=True)
    assert "\x1b" not in done.stdout + done.stderr and "units" in done.stdout
    assert " \n" not in done.stdout
