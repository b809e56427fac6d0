"""Whether this project makes of a log what a real replica did: its tables are imported, the log replayed on them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.options import ImportOptions, ReplayOptions
from tests.support.real_server import differences


def disagreement(case: Path, work: Path) -> list[str]:
    """Lines about what differs, by either route, one of them with one task and the other with several; none where state
    and error are the same. `work` is a folder for the snapshots."""
    about = json.loads((case / "case.json").read_text())
    base = str(work / "base")
    import_dump(ImportOptions(str(case / "target.sql"), base, flavour=about["server"]))
    ways = zip(("walk", "shuffle"), ((1, 4), (4, 1))[len(case.name) % 2], strict=True)
    try:
        return [f"{route}, {cores}: {line}" for route, cores in ways
                for line in _disagreement(case, about, base, work / "out", route, cores)]
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _disagreement(case: Path, about: dict, base: str, output: Path, route: str, cores: int) -> list[str]:
    [log] = map(str, case.glob("binlog.*"))

    def replay(**options) -> ApplierError | None:
        try:
            replay_with(ThisProcess(cores), ReplayOptions((log,), str(output), base=base, route=route,
                                                      exec_mode=about["exec_mode"], **options,
                                                      type_conversions=frozenset(about["type_conversions"])))
        except ApplierError as error:
            return error
        return None

    try:
        stopped = replay()
        errno = None if stopped is None else stopped.mysql_errno
        if errno != about["errno"]:
            return [f"error {about['errno']} expected, {errno} raised: {stopped}"]
        if stopped is not None:
            name, position = re.search(r"--stop-position ([^\s:]+):(\d+)", stopped.hint).groups()
            if again := replay(stop_position=(name, int(position))):
                return [f"before {stopped}: {again}"]
        return differences(output, case / "expected")
    finally:
        shutil.rmtree(output, ignore_errors=True)
