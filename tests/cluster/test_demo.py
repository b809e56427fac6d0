"""The archive that ships with the project, from the command line on: its rows are the real server's, at two places."""

import json

import pytest

from applier import cli
from applier.snapshot import manifest
from tests.recorded.archives.demo_digest import ARCHIVE, expected, held

MISTAKE_AT = json.loads((ARCHIVE / "expected.json").read_text())["mistake_at"]


ENGINES = {"local": ["--engine", "local"], "spark": ["--engine", "spark", "--master", "local[2]"], "auto": []}


def replay(output, *options, engine="local"):
    code = cli.main(["replay", "--binlogs", str(ARCHIVE), "--output", str(output), *ENGINES[engine], *options])
    assert code == 0
    return held(output)


@pytest.mark.by_turns("engine", "route")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_before_the_mistake_and_on_to_the_end(tmp_path, engine, route, capsys):
    """AP-SNAP, GRP-2: all tables stand just before 10:30; a second replay continues from there."""
    before, latest = tmp_path / "before", tmp_path / "latest"
    assert replay(before, "--stop-datetime", MISTAKE_AT, "--route", route,
                  engine=engine) == expected("before_mistake")
    assert replay(latest, "--base", str(before), "--route", route, engine=engine) == expected("end")
    assert ("engine: local, as the work takes about 0.1 core seconds" in capsys.readouterr().err) == (engine == "auto")
    assert cli.main(["status", str(before)]) == 0
    shown = capsys.readouterr().out
    assert "binlog.000002:745606" in shown and "2026-03-14 10:29:45 UTC" in shown and "shop.order_items" in shown


def test_the_three_stop_points_name_the_same_place(tmp_path):
    by_time = tmp_path / "time"
    replay(by_time, "--stop-datetime", MISTAKE_AT)
    position = manifest.load(str(by_time)).position
    assert str(position) == "binlog.000002:745606"  # the end of the last transaction before it, as mysqlbinlog has it
    for number, options in enumerate([("--stop-position", str(position)), ("--stop-gtid", position.gtid_set)]):
        output = tmp_path / str(number)
        assert replay(output, *options) == expected("before_mistake")
        assert manifest.load(str(output)).position == position


def test_chosen_tables_only(tmp_path):
    """AP-FILT."""
    everything = expected("end")
    chosen = replay(tmp_path / "out", "--tables", "shop", "--ignore-tables", "shop.orders,shop.order_items")
    assert chosen == {name: rows for name, rows in everything.items() if "order" not in name}


def test_an_output_that_exists_is_left_alone(tmp_path, capsys):
    output = tmp_path / "out"
    replay(output)
    before = (output / "_snapshot.json").read_bytes()
    assert cli.main(["replay", "--binlogs", str(ARCHIVE), "--output", str(output)]) == 2
    assert "error" in capsys.readouterr().err
    assert (output / "_snapshot.json").read_bytes() == before
