"""The full campaign: `make torture` kills replays and damages archives, and prints what it tried.

    python -m tests.cluster.torture [kills] [damages] [first number]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.cluster import damaging, killing
from tests.support.folders import ROOT


def main(kills: int = 40, damages: int = 5000, first: int = 0) -> int:
    """Exit code 0 where all went right."""
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    (folder / "logs").mkdir()
    archive, base = killing.write_archive(folder / "logs"), folder / "base"
    replay_with(ThisProcess(2), ReplayOptions((f"{archive}/binlog.000001",), str(base)))
    wrong = damaging.run(range(first, first + damages), folder / "damaged", _say)
    for where in ("beside", "in-place"):
        (folder / where).mkdir()
        publishing = [sys.executable, "-m", "tests.unit.snapshot.publishing_run", "times", where, str(folder / where)]
        if kills and subprocess.run(publishing, cwd=ROOT).returncode:
            wrong.append(f"kills while a snapshot is published {where}")
    try:
        if kills:
            killing.run(range(first, first + kills), archive, base, folder / "killed", _say)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        wrong.append(f"kills: {error}")
    print(f"{damages} damages and {kills} kills, {len(wrong)} wrong; {folder} has what is left of them")
    print("\n".join(wrong))
    return bool(wrong)


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
