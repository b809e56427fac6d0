"""A position to stop at that is within an event group: the replay stops before the group, and says so."""

import pytest

import applier
import applier.binlog
from applier.cli import main
from tests.support.small_logs import CREATE


@pytest.fixture
def ends(tmp_path, monkeypatch):
    """Where the groups of a log end."""
    monkeypatch.chdir(tmp_path)
    found = []
    with applier.binlog.Writer("b.000001") as log:
        log.query(CREATE, "shop")
        for id in range(3):
            found.append(log.position[1])
            with log.transaction():
                log.insert("shop.item", {"id": [id], "n": [0], "s": [""]})
        found.append(log.position[1])
        log.rotate("b.000002")
    return found


def notes(offset):
    made = applier.replay(["b.000001", "b.000002"], f"out{offset}", stop=("b.000001", offset)).report
    return made.position, made.notes


def test_a_stop_in_the_middle_of_a_group_is_noted(ends, capsys):
    first, second, third, _ = ends
    for offset in (second + 1, third - 1):
        assert notes(offset) == (f"b.000001:{second}", (
            f"--stop-position b.000001:{offset} is within the event group that begins at {second}: it stopped before "
            "that group",))
    assert main(["changes", "--binlogs", "b.000001", "--stop-position", f"b.000001:{first + 9}", "--output", "c"]) == 0
    assert f"begins at {first}: it stopped" in capsys.readouterr().err


def test_a_stop_between_groups_is_not(ends):
    """Nor one within the event that ends the file, which is in no group."""
    for offset in (ends[1], ends[3], ends[3] + 9):
        assert notes(offset)[1] == ()
