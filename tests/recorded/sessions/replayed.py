"""Recorded sessions as cases of tests: each snapshot holds what the server held."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.folders import RECORDED
from tests.support.real_server import differences_of, rows_of


def recorded(*names: str) -> dict[str, dict[str, Any]]:
    """The sessions of these recordings, by flavour, name and version of the server."""
    cases = [json.loads(line) for name in names
             for line in gzip.open(RECORDED / "sessions" / f"{name}.jsonl.gz", "rt")]
    return {"-".join(("MariaDB" if "MariaDB" in case["server"] else "MySQL", case["name"],
                      case["server"].partition("-")[0])): case for case in cases}


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
