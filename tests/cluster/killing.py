"""Replays that are killed: the driver, its Java machine, a Python worker, or all of them, at a named point of their
work (tests), or at a random time (`make torture`); in one pass over the archive, or in several.

What counts as right: the output is absent or complete, the base is as it was, and the next run starts clean.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from applier.snapshot import manifest
from tests.support.folders import ROOT
from tests.support.small_logs import commit, held, insert, new_log, update

VICTIMS = ["driver", "java", "worker", "all"]
ROWS = [(n, n, "x" * 20) for n in range(30_000)]
AFTER = [(n, -n, s) if n < 10_000 else (n, n, s) for n, _, s in ROWS]

AT_POINT = """
import glob, os, re, sys, time
kind, who, files, there, folder = os.environ["KILLING"].split(",")
driver = int(os.environ.setdefault("KILLING_DRIVER", str(os.getpid())))
def at_point(event, arguments):
    if event != kind or (os.getpid() == driver) != (who == "driver") or os.path.exists(folder + "/go"):
        return
    if not re.search(files, f"{arguments[0]} {arguments[1]}") or there and not glob.glob(there):
        return
    os.makedirs(f"{folder}/at/{os.getpid()}", exist_ok=True)
    while not os.path.exists(folder + "/go"):
        time.sleep(0.01)
sys.addaudithook(at_point)
"""
"""Of every Python process of a run (sitecustomize): who reaches the point says so in KILLING's folder, and waits."""
ON_SPARK = """
import sys
from applier.cli import console
from applier.jobs.replay import job
from applier.plan import ranges, units
units.UNIT_BYTES, units.LEAST_UNIT_BYTES, ranges.HOT_BYTES = 100_000, 1, 50_000
archive, output, base, pass_bytes = sys.argv[1:]
if pass_bytes:
    job.room_for_pass = lambda shared_directory: int(pass_bytes)
sys.argv[1:] = ["replay", "--binlogs", archive, "--output", output, "--master", "local[2]"]
sys.argv += ["--base", base] if base else []
console()
"""
HERE = """
from applier.engine.executor import ThisProcess
from applier.options import ReplayOptions
from applier.plan import ranges, units
from applier.jobs.replay.job import replay_with
units.UNIT_BYTES, units.LEAST_UNIT_BYTES, ranges.HOT_BYTES = 100_000, 1, 50_000
def run(ends_at):
    touched = 0
    def killed_at(event, arguments):  # any thread
        nonlocal touched
        if event in ("open", "os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "os.listdir"):
            touched += 1
            if touched == ends_at:
                os.kill(os.getpid(), 9)
    sys.addaudithook(killed_at)
    options = ReplayOptions((sys.argv[1],), sys.argv[2], pass_bytes=int(sys.argv[4]) or None)
    replay_with(ThisProcess(int(sys.argv[3])), options)
    return touched
"""
"""Of forked_runs: kills itself before it opens, makes, renames or removes a file for the `ends_at`-th time; returns how
many times these were."""
PASS_BYTES = 250_000
"""Several passes for each of the archive's files."""
_IN_LATER_PASS = ".out.staging-*/_passes/[1-9]"
POINTS = {
    "outline": ("open", "driver", r"/binlog\.0", ""),
    "task": ("open", "worker", r"/binlog\.0", ""),
    "task of a later pass": ("open", "worker", r"/binlog\.000002", _IN_LATER_PASS),
    "end of a later pass": ("os.rename", "driver", "/_passes/2$", _IN_LATER_PASS),
    "publication": ("os.rename", "driver", r"/\.out\.staging-\S+ \S+/out$", ""),
}
"""Named points of a replay on Spark: the driver outlines files while Spark starts, a worker begins a task, what a pass
made becomes the base of the next one, the driver makes the output visible. Each is an event of a process, and a pattern
of the files that it is about; the last is what must be there, in the output's folder."""


def write_archive(folder: Path) -> Path:
    """Two files: the first makes ROWS, and after both of them there is AFTER."""
    log = new_log(folder)
    for first in range(0, len(ROWS), 1000):
        commit(log, insert(ROWS[first:first + 1000]))
    log = log.rotate(folder / "binlog.000002")
    for first in range(0, 10_000, 1000):
        rows = ROWS[first:first + 1000]
        commit(log, update(rows, [(n, -n, s) for n, _, s in rows]))
    log.close()
    return folder


def started(archive: Path, output: Path, base: Path | str = "", *, in_passes: bool = False,
            **environment: str) -> subprocess.Popen:
    """A replay on Spark, and the first process of its own session."""
    return subprocess.Popen([sys.executable, "-c", ON_SPARK, str(archive), str(output), str(base),
                             str(PASS_BYTES) * in_passes], cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=os.environ | environment)


def is_complete(output: Path, rows: list = AFTER) -> bool:
    """Return whether the output is there. Raises AssertionError where it is neither absent nor complete."""
    if not output.exists():
        return False
    snapshot = manifest.load(str(output))
    named = {file.path for table in snapshot.tables for file in table.files}
    assert {str(file.relative_to(output)) for file in output.rglob("*.parquet")} == named
    assert {"_schema.sql", "_report.json"} <= {file.name for file in output.iterdir()}
    assert held(output) == rows
    return True


def processes(session: int) -> dict[str, list[int]]:
    """The ids of a session's processes by what they are; ended ones that nobody waited for are none."""
    found: dict[str, list[int]] = {victim: [] for victim in VICTIMS}
    for entry in os.listdir("/proc"):
        try:
            pid, stat = int(entry), Path(f"/proc/{entry}/stat").read_text()
        except (ValueError, OSError):
            continue
        name, (state, _, _, of, *_) = stat[stat.index("(") + 1:stat.rindex(")")], stat[stat.rindex(")") + 2:].split()
        if int(of) == session and state != "Z":
            found["driver" if pid == session else "java" if name == "java" else "worker"].append(pid)
    return found


def kill(run: subprocess.Popen, victim: str, dice: random.Random) -> bool:
    """Kill one of the run's processes, or all of them; whether there was such a one."""
    there = processes(run.pid)
    chosen = list(chain(*there.values())) if victim == "all" else dice.sample(there[victim], min(1, len(there[victim])))
    for pid in chosen:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return bool(chosen)


def await_end(session: int) -> None:
    """Wait until all processes of a session have ended; what never does is the end of the test's patience."""
    while any(processes(session).values()):
        time.sleep(0.1)


def attempt(number: int, archive: Path, base: Path, folder: Path) -> str:
    """Kill a replay on Spark once, each victim in turn, in one pass and in several, at a random time: a line that says
    what was tried and the outcome. Raises AssertionError where that is not right."""
    dice, output = random.Random(number), folder / "out"
    victim, in_passes = VICTIMS[number % len(VICTIMS)], number // len(VICTIMS) % 2 == 1
    run = started(archive, output, base, in_passes=in_passes)
    began = time.monotonic()
    while run.poll() is None and not any(folder.iterdir()):
        time.sleep(0.01)
    time.sleep(dice.uniform(0, 5))
    while run.poll() is None and not kill(run, victim, dice):
        time.sleep(0.05)
    what = f"kill {number}: {victim}{' in passes' * in_passes} after {time.monotonic() - began:.1f} s"
    return _outcome(run, victim, output, what)


def attempt_at(point: str, victim: str, archive: Path, base: Path | str, folder: Path, reached: Path, *,
               in_passes: bool = False) -> str:
    """The same at a named point, which processes say in the folder `reached` that they have reached."""
    event, who, files, there = POINTS[point]
    reached.mkdir()
    (reached / "sitecustomize.py").write_text(AT_POINT)
    path = os.pathsep.join([str(reached), *filter(None, [os.environ.get("PYTHONPATH")])])
    killing = event, who, files, there and str(folder / there), str(reached)
    run = started(archive, folder / "out", base, in_passes=in_passes, KILLING=",".join(killing), PYTHONPATH=path)
    while not (reached / "at").exists():
        assert run.poll() is None, f"{point} was not reached: {run.communicate()[1].decode()}"
        time.sleep(0.01)
    assert kill(run, victim, random.Random(0)), f"there is no {victim}"
    (reached / "go").touch()
    return _outcome(run, victim, folder / "out", f"kill at {point}: {victim}")


def _outcome(run: subprocess.Popen, victim: str, output: Path, what: str) -> str:
    _, said = run.communicate()
    await_end(run.pid)
    complete = is_complete(output)
    last = said.decode().strip().splitlines()[-1:] or [""]
    line = f"{what} → exit {run.returncode}, the output is {'complete' if complete else 'absent'}: {last[0][:200]}"
    assert complete == (run.returncode == 0) or (complete and victim in ("driver", "all")), line
    assert victim != "java" or complete or (run.returncode == 2 and "the Spark JVM" in said.decode()), line
    left = [path.name for path in output.parent.iterdir()]
    assert victim in ("driver", "all") or left == ["out"] * complete, line
    return line


def finish(archive: Path, base: Path | str, folder: Path, *, in_passes: bool = False) -> None:
    """One more run on Spark, which nobody kills; afterwards there is its output and nothing else."""
    run = started(archive, folder / "out", base, in_passes=in_passes)
    _, said = run.communicate()
    assert run.returncode == 0, said.decode()
    assert [path.name for path in folder.iterdir()] == ["out"]
    assert is_complete(folder / "out")


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """What a snapshot's files are: not only their names."""
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*"))
            if path.is_file()}


def run(numbers: range, archive: Path, base: Path, folder: Path, say: Callable[[str], None] = print) -> None:
    """Attempts by number for one output; then a run in passes that nobody kills. Raises AssertionError."""
    import shutil

    folder.mkdir()
    before = files_of(base)
    for number in numbers:
        say(attempt(number, archive, base, folder))
        if (folder / "out").exists():
            shutil.rmtree(folder / "out")
    finish(archive, base, folder, in_passes=True)
    assert files_of(base) == before, "the base is not what it was"
