"""The cost of each test module: CPU seconds of the process and of all processes that it starts, as `pytest --cost`
prints them.

tests/costs.tsv keeps the table: for each module the CPU seconds of its tests of every day and of those that are marked
`thorough`, and the number of both. `--cost` names the modules that have grown by more than a fifth since;
`--cost=write` writes the rows of the modules that ran, and drops those of modules that are gone; skipped tests did not
run. A module's fixtures count where they are made. What a process leaves behind when it ends, as a driver leaves its
JVM, becomes a child of the process of the tests (Linux), and so it counts to its end.
"""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

TESTS = Path(__file__).parent.parent
TABLE = TESTS / "costs.tsv"
GROWTH = 1.2
"""A module is named when its cost exceeds the table's by this factor."""
SMALLEST = 2.0
"""CPU seconds: below this the difference between two runs is noise."""
_PR_SET_CHILD_SUBREAPER = 36
_TICKS = os.sysconf("SC_CLK_TCK")
_PROPERTY = "cpu_seconds"
_Figure = TypeVar("_Figure", int, float)
SUITES = ("day", "thorough")
"""Whose seconds are counted apart."""


class Costs:
    """The CPU seconds of a run, by suite and module."""

    def __init__(self, writes: bool) -> None:
        self.by_suite: dict[str, Counter[str]] = {suite: Counter() for suite in SUITES}
        self.tests: dict[str, Counter[str]] = {suite: Counter() for suite in SUITES}
        self.writes = writes
        adopt_orphans()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Measure one phase of a test."""
        return (yield from _measured(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Measure one phase of a test."""
        return (yield from _measured(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        """Measure the last phase of a test. At the end of a module nobody waits for its processes any more."""
        try:
            return (yield from _measured(item))
        finally:
            if nextitem is None or nextitem.path != item.path:
                reap()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what the process of a test measured. The last phase's report has the properties of all phases."""
        suite, module = SUITES["thorough" in report.keywords], report.location[0]
        if report.when == "call" and not report.skipped:
            self.tests[suite][module] += 1
        if report.when == "teardown":
            for name, seconds in report.user_properties:
                if name == _PROPERTY:
                    self.by_suite[suite][module] += float(str(seconds))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the modules that cost most, the folders, and the modules that have grown; write the table if asked."""
        write = terminalreporter.write_line
        for suite, by_module in self.by_suite.items():
            if by_module:
                terminalreporter.section(f"{suite}: {by_module.total():.0f} CPU seconds")
                for module, seconds in by_module.most_common(25):
                    write(f"{seconds:8.1f}  {module}")
                folders: Counter[str] = Counter()
                for module, seconds in by_module.items():
                    folders["/".join(module.split("/")[:2])] += seconds
                write("by folder: " + ", ".join(f"{name} {seconds:.0f}" for name, seconds in folders.most_common()))
                for line in grown(read_table(suite), by_module):
                    write(line)
        if self.writes:
            write_table(self.by_suite, self.tests)


def write_table(seconds: dict[str, Counter[str]], tests: dict[str, Counter[str]]) -> None:
    """Write the rows of the modules that ran, given what their tests took and how many there are, by suite. A suite
    that did not run keeps its figures."""
    ran = set().union(*tests.values())
    of_all, counts = {suite: read_table(suite) for suite in SUITES}, {suite: read_tests(suite) for suite in SUITES}
    for suite in SUITES:
        if tests[suite]:
            of_all[suite] |= {module: seconds[suite][module] for module in ran}
            counts[suite] |= {module: tests[suite][module] for module in ran}
    modules = [module for module in sorted(set().union(*counts.values())) if (TESTS.parent / module).exists()]
    TABLE.write_text("".join(
        "\t".join([module, *(f"{of_all[suite].get(module, 0):.1f}" for suite in SUITES),
                   *(str(counts[suite].get(module, 0)) for suite in SUITES)]) + "\n" for module in modules))


def grown(before: dict[str, float], now: Counter[str]) -> list[str]:
    """A line for each module that costs more than GROWTH times what it cost before, the most expensive first."""
    return [f"grown: {module} costs {seconds:.1f} CPU seconds, not {before[module]:.1f}"
            for module, seconds in now.most_common()
            if module in before and seconds > max(before[module], SMALLEST) * GROWTH]


def read_table(suite: str = "day") -> dict[str, float]:
    """The CPU seconds of each module in tests/costs.tsv, of one suite."""
    return _column(1 + SUITES.index(suite), float)


def read_tests(suite: str) -> dict[str, int]:
    """The number of tests of each module in tests/costs.tsv, of one suite."""
    return _column(1 + len(SUITES) + SUITES.index(suite), int)


def _column(number: int, figure: Callable[[str], _Figure]) -> dict[str, _Figure]:
    lines = [line.split("\t") for line in TABLE.read_text().splitlines()] if TABLE.exists() else []
    return {line[0]: figure(line[number]) for line in lines}


def _measured(item: pytest.Item) -> Iterator[None]:
    before = cpu_seconds()
    try:
        return (yield)
    finally:
        item.user_properties.append((_PROPERTY, round(cpu_seconds() - before, 4)))


def cpu_seconds() -> float:
    """CPU seconds of this process, of the children that it waited for, and of its living descendants with theirs."""
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system + sum(map(_of_tree, _children(os.getpid())))


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent has ended. Those that ended, too, count until `reap` waits for
    them, and then among the children that were waited for."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap() -> None:
    """Wait for all children that have ended. A `Popen` that has not done so for its process finds no exit code then."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _of_tree(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it ended just now; its parent has waited for it
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS + sum(map(_of_tree, _children(process)))


def _children(process: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
    except OSError:
        pass
    return found
