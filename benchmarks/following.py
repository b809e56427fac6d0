"""How far a lake is behind a log that is being written, by how many changes a second it gets."""

import multiprocessing
import os
import shutil
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from statistics import median

import numpy as np

from applier.io.ending import Ending
from applier.jobs.sync.job import SyncOptions, sync
from applier.jobs.sync.round import Round
from applier.options import ReplayOptions
from benchmarks.archive import Archive, filled_table
from benchmarks.measure import in_child
from benchmarks.report import Table, number
from benchmarks.sections import Bench

_ROWS, _FULL_MEGABYTES, _SECONDS = 1_000_000, 440.0, 60.0
_RATES = (1_000, 5_000, 20_000)
_TICK_SECONDS = 0.1
_FILE_BYTES = 128 << 20
_GROWS_BY, _GROWS_SECONDS = 1.5, 1.0


@dataclass(frozen=True)
class Followed:
    """What `sync` did while a log was written: its rounds, in which the lake got the `changes` that were written in so
    many `seconds`, how many of the rounds ended meanwhile, and CPU seconds until the writer ended."""

    rounds: tuple[Round, ...]
    changes: int
    seconds: float
    meanwhile: int
    cpu: float

    @property
    def lags(self) -> list[float]:
        """Of the rounds that ended while the log was written, in seconds."""
        return [done.lag or 0.0 for done in self.rounds[:self.meanwhile]]

    @property
    def diverges(self) -> bool:
        """Whether the lag grows to the end: in the last third of the rounds against the one before."""
        third = len(self.lags) // 3
        if not third:
            return len(self.lags) < 3
        before, last = median(self.lags[-2 * third:-third]), median(self.lags[-third:])
        return last > before * _GROWS_BY and last > before + _GROWS_SECONDS


def following(bench: Bench) -> list[Table]:
    """The lag at several rates, on a table in which any row may change."""
    share = min(1.0, bench.megabytes / _FULL_MEGABYTES)
    rows, seconds = max(20_000, int(_ROWS * share)), max(5.0, _SECONDS * share)
    table = Table(
        "Following a log",
        f"A table of {rows:,} rows of 190 bytes, of which another process updates random ones, one a transaction, for "
        f"{seconds:.0f} seconds at each rate; `sync`, which looks a second after each round, and publishes in a SQLite "
        "catalog of Iceberg. Lag: how old the last change of a version was when its round ended; the log has whole "
        "seconds, so it is up to one less. CPU: seconds a second. Diverges: whether the lag grew to the end.",
        ["changes/s", "written/s", "rounds", "a round, s", "lag, s", "at most", "at the end", "CPU", "diverges"],
    )
    for rate in _RATES:
        done = in_child(followed, f"{bench.folder}/following", rows, rate, seconds)
        lags = done.lags or [done.rounds[-1].lag or 0.0]
        times = [round.seconds for round in done.rounds]
        table.rows.append([f"{rate:,}", number(done.changes / done.seconds), f"{done.meanwhile}", number(median(times)),
                           number(median(lags)), number(max(lags)), number(lags[-1]), number(done.cpu / done.seconds),
                           "yes" if done.diverges else "no"])
    return [table]


def followed(folder: str, rows: int, rate: int, seconds: float) -> Followed:
    """Follow a log in a new folder, which is removed, that gets this many changes a second; to its end."""
    ours, theirs = multiprocessing.Pipe()
    writer = multiprocessing.get_context("spawn").Process(
        target=_write, args=[f"{folder}/log", rows, rate, seconds, theirs], daemon=True)
    writer.start()
    theirs.close()
    try:
        ours.recv()
        replay = ReplayOptions((f"{folder}/log",), lake=f"{folder}/lake", engine="local")
        options = SyncOptions(replay, every=1.0, keep=1, iceberg=f"sqlite:///{folder}/catalog.db",
                              warehouse=f"{folder}/warehouse")
        ending, rounds = _WithWriter(ours), list[Round]()
        for done in sync(options, ending):
            if done.error is not None:
                raise done.error
            if not ending.has_begun:
                ending.begin()
                continue
            rounds.append(done)
            ending.position = done.position
            ending.ended = len(rounds)
        writer.join()
    finally:
        writer.kill()
        shutil.rmtree(folder)
    return Followed(tuple(rounds), ending.changes, ending.seconds, ending.meanwhile, ending.cpu)


class _WithWriter(Ending):
    """Ends when the lake stands where the writer has ended; `position` is where the lake stands, after this many
    rounds, `ended`."""

    def __init__(self, writer: Connection) -> None:
        super().__init__()
        self._writer, self._last = writer, ""
        self.has_begun, self.position, self.ended = False, "", 0
        self.changes, self.seconds, self.meanwhile, self.cpu = 0, 0.0, 0, 0.0

    def begin(self) -> None:
        """Have the writer begin, as the lake has the table."""
        self.has_begun, self.cpu = True, time.process_time()
        self._writer.send(None)

    def wait(self, seconds: float) -> bool:
        """Wait; returns whether the lake has all."""
        if not self._last and self._writer.poll():
            self._last, self.changes, self.seconds = self._writer.recv()
            self.cpu, self.meanwhile = time.process_time() - self.cpu, self.ended
        return (self._last != "" and self.position == self._last) or super().wait(seconds)


def _write(folder: str, rows: int, rate: int, seconds: float, reader: Connection) -> None:
    """Fill a table; when the reader says so, update rows of it; then say where the log ends, how many changes it got,
    and in how many seconds."""
    random = np.random.default_rng(7)
    archive = Archive(folder, 1)
    archive.file_bytes = None
    archive.log.timestamp = int(time.time())
    table = filled_table(archive, "t", "int", ", PRIMARY KEY (id)", rows, random)
    archive.begin_file()
    archive.log.flush()
    reader.send(None)
    reader.recv()
    began, changes = time.monotonic(), 0
    while (now := time.monotonic() - began) < seconds:
        wanted = int(min(now + _TICK_SECONDS, seconds) * rate) - changes
        chosen = random.choice(rows, min(wanted, rows), replace=False)
        archive.log.transactions([table.update_k(chosen, True)], np.full(len(chosen), int(time.time())))
        changes += len(chosen)
        if archive.log.position > _FILE_BYTES:
            archive.begin_file()
        archive.log.flush()
        time.sleep(max(0.0, changes / rate - (time.monotonic() - began)))
    archive.log.close()
    reader.send((f"{os.path.basename(archive.log.path)}:{archive.log.position}", changes, time.monotonic() - began))
