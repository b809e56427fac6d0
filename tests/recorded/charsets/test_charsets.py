"""Literals, labels and text in the character sets of sessions, tables and columns: what four servers made of them."""

import json
from pathlib import Path

import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.real_server import differences_of, rows_of

HERE = Path(__file__).parent


@pytest.mark.by_turns("route", "cores", one_in=2)
@pytest.mark.parametrize("route, cores", [("walk", 1), ("shuffle", 4)])
@pytest.mark.parametrize("server", ["mysql", "mariadb", "mariadb11", "mariadb105"])
def test_character_sets_of_literals_labels_and_text(server, route, cores, tmp_path):
    """EV-CTX, AP-VAL, DEF-R1b: introducers, N'…', narrower connections and SET NAMES binary in defaults, expressions,
    labels and partitions; columns made of text's bytes; labels over CONVERT; NO_BACKSLASH_ESCAPES."""
    options = ReplayOptions((str(HERE / server / "binlog.000001.gz"),), str(tmp_path / "out"), route=route)
    replay_with(ThisProcess(cores), options)
    with open(HERE / server / "expected.jsonl", encoding="utf-8") as lines:
        wanted = {name: (columns, rows_of(rows)) for name, columns, rows in map(json.loads, lines)}
    assert differences_of(tmp_path / "out", wanted) == []
