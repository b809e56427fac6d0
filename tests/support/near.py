"""The tests that are near to a change: `python -m tests.support.near [PATHS]`, which `make near` runs.

tests/near.tsv names, for each source file, the test modules that call most of its functions, little outside its folder,
and cost little CPU time. It is measured: `make near-map` runs the suite, or the tests of some PATHS, with `--calls`
(tests/support/called_functions.py) and writes it. A row follows its file when that is moved:
`python -m tests.support.near --write` writes such rows again.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.support.called_functions import CLUSTER, read_calls
from tests.support.costs import TESTS, read_table
from tests.support.folders import ROOT

MAP = ROOT / "tests" / "near.tsv"
CALLS = ROOT / "build" / "calls"
"""What a run of the everyday suite with `--calls` has written there; it is not kept in the repository."""
ENOUGH = 2
"""The number of test modules per function, if there are that many, before a further one is worth less."""
MOST = 16
"""Test modules named for a source file, at most."""
START = 0.5
"""CPU seconds that a test module costs at least, with its imports."""
BUDGET = 30.0
"""CPU seconds of the tests that are run for a change, about; changed tests come first, and whatever they cost."""

DAILY = ("-m", "not thorough")
"""Arguments of pytest for the tests of every day."""


def write_map(folder: Path | None = None) -> None:
    """Write the map out of what a run with `--calls` has written into a folder. If not all tests of a file's row were
    in that run, the row stays. Tests of the cluster are near to nothing: each starts a JVM."""
    measured = {} if folder is None else read_calls(folder)
    calls = {test: called for test, called in measured.items() if not test.startswith(CLUSTER)}
    by_source: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for test, called in calls.items():
        for name in called:
            by_source[name.partition(":")[0]][test].add(name)
    inside = {test: Counter(folder for name in called for folder in _folders(name)) for test, called in calls.items()}
    rows, costs = _moved(read_map()), read_table()
    for source, tests in by_source.items():
        folder = source[:source.rindex("/")]
        weights = {test: inside[test][folder] / len(calls[test]) / (START + costs.get(test, 0)) ** 0.5
                   for test in tests}
        if calls.keys() >= set(rows.get(source, ())):
            rows[source] = _nearest(tests, weights, costs)
    MAP.write_text("".join(f"{source}\t{' '.join(rows[source])}\n" for source in sorted(rows)))


def _folders(name: str) -> list[str]:
    """The folders that a function's source file is in."""
    parts = name.partition(":")[0].split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def read_map() -> dict[str, list[str]]:
    """The test modules that are near to each source file, the nearest first, as long as they exist."""
    lines = [line.split("\t") for line in MAP.read_text().splitlines()]
    return {source: [test for test in tests.split() if (ROOT / test).exists()] for source, tests in lines}


def _moved(rows: dict[str, list[str]]) -> dict[str, list[str]]:
    """The rows by the present paths of their files, which git knows; without those of files that are gone."""
    if all((ROOT / source).exists() for source in rows):
        return rows
    renames = ("-M", "--diff-filter=R", "--name-status")
    said = [git("log", "--reverse", "--format=", *renames), git("diff", *renames, "HEAD")]
    paths = {source: source for source in rows}
    for _, before, after in (line.split("\t") for line in "".join(said).splitlines() if line):
        paths = {source: after if path == before else path for source, path in paths.items()}
    found = {path: rows[source] for source, path in paths.items() if (ROOT / path).exists()}
    return found | {source: tests for source, tests in rows.items() if (ROOT / source).exists()}


def _nearest(tests: dict[str, set[str]], weights: dict[str, float], costs: dict[str, float]) -> list[str]:
    """The test modules for a source file, the best first, as many as fit into the budget: those that call most of its
    functions, by their weights: how much of what they call is in the file's folder, for their cost. A function that
    ENOUGH of the ones before call counts half as much with each further one."""
    worth = {name: 2.0 ** (ENOUGH - 1) for called in tests.values() for name in called}
    chosen, left = list[str](), dict(tests)
    spent = 0.0
    while left and len(chosen) < MOST:
        best = max(left, key=lambda test: weights[test] * sum(min(worth[name], 1.0) for name in tests[test]))
        cost = START + costs.get(best, 0)
        del left[best]
        if spent + cost <= BUDGET or not chosen:
            spent += cost
            chosen.append(best)
            worth |= {name: worth[name] / 2 for name in tests[best]}
    return chosen


def tests_for(paths: Iterable[str]) -> list[str]:
    """The test modules for changed files: changed tests, and those that the map names for the changed files (of a
    folder: all in it), the nearest of each first, then those of their packages that are newer than the map, then those
    near to the files beside a changed file, those of most first; as many as fit into the budget."""
    paths = [path.rstrip("/") for path in paths]
    known, costs, chosen, others = read_map(), read_table(), dict[str, None](), list[list[str]]()
    for path in paths:
        if Path(path).name.startswith("test_") or path.startswith("tests/unit"):
            chosen[path] = None
        others += [tests for source, tests in known.items() if source == path or source.startswith(f"{path}/")]
    folders = {str(Path(path).parent) for path in paths if path.endswith(".py")}
    beside = Counter(test for source, tests in known.items() if str(Path(source).parent) in folders for test in tests)
    nearest = [tests[place] for place in range(MOST) for tests in others if place < len(tests)]
    spent = 0.0
    for test in [*nearest, *_newer(paths, costs), *(test for test, _ in beside.most_common())]:
        cost = START + costs.get(test, 0)
        if test not in chosen and (spent + cost <= BUDGET or not chosen):
            spent += cost
            chosen[test] = None
    return list(chosen)


def _newer(paths: list[str], costs: dict[str, float]) -> list[str]:
    """The test modules whose costs are not measured yet in the folders of the tests of these paths' packages."""
    inner = [Path(path.removeprefix("applier/")) for path in paths]
    packages = {str(folder) for path in inner for folder in (path, *path.parents)}
    return [str(test.relative_to(ROOT)) for kind in TESTS.iterdir() for package in sorted(packages - {"."})
            for test in sorted((kind / package).glob("test_*.py")) if str(test.relative_to(ROOT)) not in costs]


def changed() -> list[str]:
    """The files that differ from the last commit."""
    said = git("status", "--porcelain", "--no-renames", "--untracked-files=all")
    return [line[3:] for line in said.splitlines() if (ROOT / line[3:]).exists()]


def git(*words: str) -> str:
    """What git says in the checkout."""
    return subprocess.run(["git", *words], cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True).stdout


def main(paths: list[str]) -> int:
    """Run the tests that are near to these paths, or to what differs from the last commit."""
    tests = tests_for(paths or changed())
    if not tests:
        print("no test is near to that: make test runs all", file=sys.stderr)
        return 2
    print("\n".join(tests))
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", *DAILY, *tests],
                          cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write_map(Path(sys.argv[2]) if sys.argv[2:] else None)
    else:
        sys.exit(main(sys.argv[1:]))
