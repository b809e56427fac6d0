"""Recorded sessions as cases of tests: each snapshot holds what the server held."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.folders import RECORDED
from tests.support.real_server import differences_of, rows_of

_Test = TypeVar("_Test", bound=Callable[..., None])


def recorded(*names: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The sessions of these recordings, by name and version of the server. Where servers of one flavour did not end
    with the same tables, the name says with which server's a session ended: those of one name are alike."""
    sessions: dict[tuple[str, str], dict[str, Any]] = {}
    ends: dict[str, list[tuple[str, Any]]] = {}
    cases = (json.loads(line) for name in names
             for line in gzip.open(RECORDED / "sessions" / f"{name}.jsonl.gz", "rt"))
    for case in cases:
        name, version = case["name"], case["server"].partition("-")[0]
        name = f"{'MariaDB' if 'MariaDB' in case['server'] else 'MySQL'}-{name}"
        known = ends.setdefault(name, [])
        like = next((first for first, tables in known if tables == case["tables"]), None)
        if like is None:
            known.append((like := version, case["tables"]))
        sessions[name if like == known[0][0] else f"{name}-as-on-{like}", version] = case
    return sessions


def each_of(sessions: dict[tuple[str, str], dict[str, Any]]) -> Callable[[_Test], _Test]:
    """A test with the parameters `session` and `version`, and `route`: `make test` runs each name on one server, by one
    route."""
    def marked(test: _Test) -> _Test:
        for mark in (pytest.mark.parametrize(("session", "version"), sorted(sessions)),
                     pytest.mark.parametrize("route", ["walk", "shuffle"]),
                     pytest.mark.by_turns("version", "route")):
            test = mark(test)
        return test

    return marked


def log_of(case: dict[str, Any], folder: Path) -> Path:
    """A session's log, written into a folder."""
    log = folder / "binlog.000001"
    log.write_bytes(base64.b64decode(case["log"]))
    return log


def tables_of(case: dict[str, Any]) -> dict[str, tuple[list[str], list[tuple[Any, ...]]]]:
    """The columns and rows that the server held, by table."""
    return {name: (columns, rows_of(rows)) for name, (columns, rows) in case["tables"].items()}


def check(case: dict[str, Any], route: str, folder: Path) -> None:
    """Replay a session by a route, with the witness, and compare all its tables with the server's."""
    replay_with(ThisProcess(1), ReplayOptions((str(log_of(case, folder)),), str(folder / "out"), route=route,
                                           system_time_zone="UTC", witness="stop"))
    assert differences_of(folder / "out", tables_of(case)) == []
