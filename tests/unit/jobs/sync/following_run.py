"""A sync that follows an archive in a forked process (tests/support/forked_runs.py): so this imports no reader of
tables, since these start threads."""

from datetime import datetime
from pathlib import Path
from typing import Any

import applier
from applier.io.ending import Ending
from applier.jobs.lake.compacting import compact
from applier.jobs.sync import job
from applier.jobs.sync.job import SyncOptions, sync
from applier.options import ReplayOptions

AT = datetime(2026, 1, 2, 3, 4, 5, 678901)
PARTITIONS = ("d.a", "bucket[4](id)"), ("d.b", "month(at)"), ("e.c", "truncate[2](id)")
KEPT = 2
"""Versions, so that some expire."""


class Grown(Ending):
    """Grows an archive by a step instead of each wait, and asks for the end after the last one. A step ends within an
    event, of a group that the next step has whole."""

    def __init__(self, folder: str):
        super().__init__()
        self._folder = Path(folder)
        self._steps = [line.split() for line in (self._folder / "steps").read_text().splitlines()]

    def wait(self, seconds: float) -> bool:
        is_grown = False
        while self._steps and not is_grown:
            file, end = self._steps.pop(0)
            for whole in sorted((self._folder / "whole").iterdir()):
                there = self._folder / "log" / whole.name
                content = whole.read_bytes()[:None if whole.name < file else int(end) + 25 if whole.name == file else 0]
                if content and (not there.exists() or there.stat().st_size < len(content)):
                    there.write_bytes(content)
                    is_grown = True
        return not is_grown


def begin(folder: str) -> None:
    """Have the first step in the archive."""
    (Path(folder) / "work").mkdir(exist_ok=True)
    if not (log := Path(folder) / "log").exists():
        log.mkdir()
        Grown(folder).wait(0)


def follow(folder: str, *, merges: bool = False, divided: bool = False) -> None:
    """Sync to the end of the archive, which grows meanwhile. A lake that merges on read is compacted after some rounds,
    and is not published in Delta; the other one may have partitions."""
    job.EXPIRES_EVERY_SECONDS = 0.0
    work = f"{folder}/work"
    replay = ReplayOptions((f"{folder}/log",), "", lake=f"{work}/lake", engine="local", file_bytes=20_000,
                           merge_on_read=merges, partition=PARTITIONS if divided else ())
    options = SyncOptions(replay, keep=KEPT, iceberg=f"sqlite:///{work}/catalog.db", warehouse=f"{work}/warehouse",
                          delta=None if merges else f"{work}/delta")
    for done in sync(options, Grown(folder)):
        if done.error is not None:
            raise done.error
        if merges and done.version % 3 == 0:
            compact(f"{work}/lake")


def write_archive(folder: Path, *, scattered: int = 0) -> list[str]:
    """The archive in `whole`, and in `steps` how it grows; positions where a step ends. Of these, so many are of
    scattered changes."""
    (folder / "whole").mkdir()
    ends = list[tuple[str, int]]()
    with applier.binlog.Writer(folder / "whole/binlog.000001") as log:

        def insert(table: str, ids: range, **values: Any) -> None:
            with log.transaction():
                log.insert(table, {"id": list(ids), **{name: [value] * len(ids) for name, value in values.items()}})

        def end_step() -> None:
            file, end = log.position
            ends.append((Path(file).name, end))

        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE a (id INT PRIMARY KEY, n INT, s VARCHAR(200))", "d")
        log.query("CREATE TABLE b (id INT PRIMARY KEY, at DATETIME(6))", "d")
        insert("d.a", range(900), n=1, s="long" * 40)
        insert("d.b", range(3), at=AT)
        end_step()
        with log.transaction():
            log.update("d.a", {"id": [5], "n": [1], "s": ["long" * 40]}, {"id": [5], "n": [2], "s": ["short"]})
            log.delete("d.b", {"id": [2], "at": [AT]})
        end_step()
        for number in range(scattered):
            with log.transaction():
                ids = list(range(10 + number, 900, 97 - 13 * number))
                ids = [id for id in ids if id % scattered == number]
                log.update("d.a", {"id": ids, "n": [1] * len(ids), "s": ["long" * 40] * len(ids)},
                           {"id": ids, "n": [number] * len(ids), "s": ["other" * number] * len(ids)})
                log.insert("d.a", {"id": [2000 - number], "n": [0], "s": [""]})
            end_step()
        log.query("ALTER TABLE a ADD COLUMN m INT DEFAULT 7", "d")
        log.query("CREATE DATABASE e")
        log.query("CREATE TABLE c (id INT PRIMARY KEY)", "e")
        insert("e.c", range(2))
        log.query("RENAME TABLE b TO b2", "d")
        insert("d.b2", range(3, 9), at=AT)
        log.rotate(folder / "whole/binlog.000002")
        end_step()
        log.query("DROP TABLE a", "d")
        log.query("CREATE TABLE a (id INT PRIMARY KEY, at DATETIME(6))", "d")
        insert("d.a", range(1), at=AT)
        log.query("TRUNCATE TABLE c", "e")
        insert("e.c", range(3, 4))
        end_step()
        log.query("ALTER TABLE c MODIFY id BIGINT", "e")
        end_step()
    (folder / "steps").write_text("".join(f"{file} {end}\n" for file, end in ends))
    return [f"{file}:{end}" for file, end in ends]
