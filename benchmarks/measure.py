"""CPU, wall time and memory of calls, of commands, and of everything that a process has started.

CPU seconds are what is compared, where one core does the work: they bear other load on the machine better than wall
time does. Of several runs the best one counts, since nothing but other load makes a run slower than it must be.
"""

import multiprocessing
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

_CLOCK = os.sysconf("SC_CLK_TCK")
_SAMPLE_SECONDS = 0.05


@dataclass(frozen=True)
class Cost:
    """What work took: `cpu` and `wall` in seconds; where it was looked at, `memory` is bytes of the largest process,
    `memory_of_all` of all of them at a time."""

    cpu: float
    wall: float
    memory: int = 0
    memory_of_all: int = 0


def best(work: Callable[[], Any], runs: int = 5) -> Cost:
    """The cheapest of some runs in this process, after one that does not count (it fills caches)."""
    work()
    costs = []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        costs.append(Cost(time.process_time() - cpu, time.perf_counter() - wall))
    return Cost(min(cost.cpu for cost in costs), min(cost.wall for cost in costs))


def in_child(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call in a fresh Python process, so that no measurement warms or fills the next one's."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def command(arguments: Sequence[str], stdin: str | None = None) -> Cost:
    """A command with its output thrown away. Raises CalledProcessError, with what it complained of, where it fails."""
    wall = time.perf_counter()
    with open(stdin or os.devnull, "rb") as source:
        process = subprocess.Popen(arguments, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        complaint = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise subprocess.CalledProcessError(code, list(arguments), stderr=complaint.decode(errors="replace"))
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - wall, usage.ru_maxrss * 1024)


class Family:
    """Watches this process and all that it starts: CPU of all of them, and the private memory of the Python processes
    that it started.

    A context manager; `cost` is there when it has ended. It looks every 50 ms, so what a process had used counts even
    if nobody waited for it when it ended. Private memory is RssAnon: mapped files are not in it.
    """

    cost: Cost

    def __enter__(self) -> Self:
        self._memory: dict[int, int] = {}
        self._of_all = 0
        self._ticks: dict[int, int] = {}
        self._look()
        self._before = sum(self._ticks.values())
        self._done = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._wall = time.perf_counter()
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        wall = time.perf_counter() - self._wall
        self._done.set()
        self._sampler.join()
        self._look()
        cpu = (sum(self._ticks.values()) - self._before) / _CLOCK
        self.cost = Cost(cpu, wall, max(self._memory.values(), default=0), self._of_all)

    def _sample(self) -> None:
        while not self._done.wait(_SAMPLE_SECONDS):
            self._look()

    def _look(self) -> None:
        me, of_all = os.getpid(), 0
        for pid in _descendants(me):
            fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
            if fields:
                self._ticks[pid] = int(fields[11]) + int(fields[12])  # utime and stime
            name, memory = _name_and_private_bytes(pid)
            if pid != me and name.startswith("python"):
                self._memory[pid] = max(memory, self._memory.get(pid, 0))
                of_all += memory
        self._of_all = max(self._of_all, of_all)


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for process in found:
        for task in _listed(f"/proc/{process}/task"):
            found += [int(child) for child in _read(f"/proc/{process}/task/{task}/children").split()]
    return found


def _name_and_private_bytes(pid: int) -> tuple[str, int]:
    lines = dict(line.split(":", 1) for line in _read(f"/proc/{pid}/status").splitlines() if ":" in line)
    return lines.get("Name", "").strip(), int(lines.get("RssAnon", "0 kB").split()[0]) * 1024


def _read(path: str) -> str:
    """A file of /proc; empty where the process has gone meanwhile."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _listed(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except (FileNotFoundError, ProcessLookupError):
        return []
