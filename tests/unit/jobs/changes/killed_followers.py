"""Followers that are killed before a call of the operating system that changes something in what they write or in their
state, while the archive grows in steps that end anywhere and files are purged: each change is in what was written once,
in the order of commits.

As `python -m tests.unit.jobs.changes.killed_followers COUNT`: at this many random calls, on logs of MySQL and MariaDB
with XA transactions, DDL and rotations. Prints how often.
"""

import contextlib
import json
import random
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from applier.jobs.change_files.job import write_changes
from applier.options import ChangeFilesOptions, ChangesOptions
from tests.support import failing_calls
from tests.support.forked_runs import forked_runs
from tests.support.real_server import Case
from tests.unit.jobs.changes.followed_run import write_steps

CASES = ("transactions-mysql", "transactions-mariadb", "many-files-mysql")
BATCH_BYTES = 2000
PROGRAM = f"""
import ctypes
from tests.unit.jobs.changes import followed_run
calls = ctypes.CDLL(None)
def run(dies_at):
    followed_run.begin(sys.argv[1])
    calls.die_at(ctypes.c_long(dies_at))
    followed_run.run(sys.argv[1], {BATCH_BYTES})
    return calls.changes()
"""
"""Of forked_runs, under failing_calls.c: how many calls a run to the end made that change something."""


class Followers:
    """Runs on one archive in a folder; `wanted` are the lines of its tables' changes, read at once."""

    def __init__(self, folder: Path, run: Callable[[int], int | None]) -> None:
        self.run, self._folder, self._work = run, folder, folder / "work"
        changes = ChangesOptions((f"{folder}/whole",), ignore_foreign_keys=True)
        write_changes(ChangeFilesOptions(changes, f"{folder}/wanted"), None)
        self.wanted = lines_below(folder / "wanted")

    def begin_anew(self, seed: int) -> None:
        """Leave nothing of what was done, and have the archive grow in other steps."""
        for place in (self._work, self._folder / "log"):
            shutil.rmtree(place, ignore_errors=True)
        write_steps(self._folder, 12, seed)

    def check(self) -> None:
        """Raises AssertionError where changes are missing, come twice, or are not in order."""
        found = defaultdict[str, list[dict[str, Any]]](list)
        for batch in sorted((self._work / "sink").iterdir()):
            for table, lines in lines_below(batch).items():
                found[table] += lines
        assert found == self.wanted


def lines_below(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Those of a directory of changes, by table."""
    return {file.parent.name: [*map(_line, file.read_bytes().splitlines())]
            for file in folder.glob("*/*/changes.jsonl") if file.stat().st_size}


def _line(text: bytes) -> dict[str, Any]:
    """A line without nulls in images: read at once, images from before a column was added have it, as null."""
    line: dict[str, Any] = json.loads(text)
    for image in ("before", "after"):
        line[image] = {name: value for name, value in (line[image] or {}).items() if value is not None}
    return line


@contextlib.contextmanager
def followers(folder: Path, case: str) -> Iterator[Followers]:
    """Followers of a recorded log, in a new folder."""
    (folder / "whole").mkdir()
    for file in Case(case).binlogs:
        shutil.copy(file, folder / "whole")
    with forked_runs(PROGRAM, str(folder), LD_PRELOAD=str(failing_calls.built(folder)),
                     FAIL_BELOW=f"{folder}/work") as run:
        yield Followers(folder, run)


def main(count: int) -> None:
    """Kill this many followers."""
    chance, killed = random.Random(count), 0
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="killed-followers-") as folder, followers(Path(folder), case) as runs:
            of_case, seed = 0, 0
            while of_case < -(-count // len(CASES)):
                runs.begin_anew(seed := seed + 1)
                while runs.run(chance.randint(1, 150)) is None:
                    of_case += 1
                runs.check()
            print(f"{case}: {of_case} runs were killed, on {seed} archives", flush=True)
            killed += of_case
    print(f"{killed} followers were killed, and each change came once")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(int(sys.argv[1]))
