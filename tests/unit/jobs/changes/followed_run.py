"""A follower of an archive that grows, in a forked process (tests/support/forked_runs.py): so this imports no reader of
tables, since these start threads."""

import json
import random
from pathlib import Path

from applier.io.ending import Ending
from applier.jobs.change_files.job import write_followed
from applier.jobs.changes.follow.following import FollowOptions, follow
from applier.options import ChangeFilesOptions, ChangesOptions


class Grown(Ending):
    """Grows an archive by a step instead of each wait, and asks for the end after the last one. Steps end anywhere,
    also within events. Files that the state is past are purged, except for those with a transaction that is
    prepared."""

    def __init__(self, folder: str):
        super().__init__()
        self._folder = Path(folder)
        self._steps = [line.split() for line in (self._folder / "steps").read_text().splitlines()]

    def wait(self, seconds: float) -> bool:
        self._purge()
        while self._steps:
            if self._grow(*self._steps.pop(0)):
                return False
        return seconds > 0  # else there is more to read

    def _grow(self, name: str, end: str) -> bool:
        log, is_grown = self._folder / "log", False
        first = min((file.name for file in log.iterdir()), default="")
        for whole in sorted((self._folder / "whole").iterdir()):
            there = log / whole.name
            content = whole.read_bytes()[:None if whole.name < name else int(end) if whole.name == name else 0]
            size = there.stat().st_size if there.exists() else 0
            if whole.name >= first and len(content) > size:
                with there.open("ab") as file:
                    file.write(content[size:])
                is_grown = True
        return is_grown

    def _purge(self) -> None:
        state = self._folder / "work/state"
        known = json.loads(state.read_bytes())["log"] if state.exists() else None
        if known is not None:
            needed = min(known["position"]["file"], *(entry["file"] for entry in known["prepared"]), "~")
            for file in (self._folder / "log").iterdir():
                if file.name < needed:
                    file.unlink()


def write_steps(folder: Path, count: int, seed: int) -> None:
    """Choose where the archive in `whole` is cut."""
    chance, files = random.Random(seed), sorted((folder / "whole").iterdir())
    ends = sorted({(file.name, chance.randint(200, file.stat().st_size)) for file in chance.choices(files, k=count)}
                  | {(file.name, file.stat().st_size) for file in files})
    (folder / "steps").write_text("".join(f"{name} {end}\n" for name, end in ends))


def begin(folder: str) -> None:
    """Have the first step in the archive."""
    (Path(folder) / "work").mkdir(exist_ok=True)
    if not (log := Path(folder) / "log").exists():
        log.mkdir()
        Grown(folder).wait(0)


def run(folder: str, batch_bytes: int) -> None:
    """Follow to the end of the archive, which grows meanwhile."""
    work = f"{folder}/work"
    changes = ChangesOptions((f"{folder}/log",), ignore_foreign_keys=True)
    options = ChangeFilesOptions(changes, f"{work}/sink")
    for batch in follow(FollowOptions(changes, state=f"{work}/state", batch_bytes=batch_bytes), Grown(folder)):
        write_followed(options, batch, None)
