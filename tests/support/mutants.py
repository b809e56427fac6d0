"""What the tests notice: one thing at a time is changed in a kernel or in Python, and the tests are run.

    make mutants ARGS="300 --seed 1"        by the tests near the change, then by those of every day, then by all

Each mutant is made in a copy of the checkout (`--jobs`: so many copies, each with one process that runs pytest in its
forks, up to the first failure: two of them judge more mutants than one suite in two processes). It is killed by the
first of three suites that fails: `near` (the tests that tests/near.tsv names for its file), `day` (what else
`make test` runs), `all` (what else `make test-all` runs); `--until near` stops earlier. After `near` only test modules
are run that call the changed function (build/calls, which `make mutants` measures once), the cheapest first: no other
can notice. A test that fails without the mutant, too, kills none. Survivors are printed as differences, each with its
number, by which `--only` runs it again. A suite that waits too long judges nothing: the machine may be busy.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib.util
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from keysearch import kernel_cache
from tests.support.called_functions import read_calls
from tests.support.costs import read_table
from tests.support.folders import ROOT
from tests.support.near import CALLS, DAILY, tests_for
from tests.support.watched.sitecustomize import PACKAGES

SUITES = ("near", "day", "all")
LONGEST = {"near": 200, "day": 1800, "all": 3600}
"""CPU seconds of a process after which a suite counts as failed: a loop does not end."""
NO_TEST = ("--deselect=tests",)
NO_TESTS = 5
"""pytest's exit code where none is chosen."""
_OPPOSITE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
             ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub,
             ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr,
             ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.And: ast.Or, ast.Or: ast.And}


class _Change(ast.NodeVisitor):
    """Finds the change with a number, as a node, what replaces it, and the outermost function that it is in; counts the
    changes that could be made."""

    def __init__(self, number: int) -> None:
        self.number, self.count, self._depth, self._names = number, 0, 0, list[str]()
        self.found: tuple[ast.expr | ast.stmt, ast.AST, str] | None = None

    def _is_it(self) -> bool:
        self.count += 1
        return self.count - 1 == self.number

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Only what functions do is changed: constants of a module are data."""
        self._depth += 1
        self._visit_named(node, node.body)
        self._depth -= 1

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Its methods have its name."""
        self._visit_named(node, [*node.bases, *node.keywords, *node.body, *node.decorator_list])

    def _visit_named(self, node: ast.FunctionDef | ast.ClassDef, parts: Iterable[ast.AST]) -> None:
        named = self._depth < 2
        if named:
            self._names.append(node.name)
        for part in parts:
            self.visit(part)
        if named:
            self._names.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit(self, node: ast.AST) -> None:
        """Look into a node, then at it."""
        super().visit(node)
        if self._depth:
            for new in _changed(node):
                if self._is_it():
                    place = node.test if isinstance(node, ast.If) else node
                    self.found = place, new, ".".join(self._names)  # type: ignore[assignment]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A message: what it says is not what is changed."""


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what could replace a node; of an `if`, its condition."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                if opposite := _OPPOSITE.get(type(operator)):
                    ops = [*node.ops[:place], opposite(), *node.ops[place + 1:]]
                    yield ast.Compare(node.left, ops, node.comparators)
        case ast.BinOp() if (opposite := _OPPOSITE.get(type(node.op))) and not (_is_text(node.left)
                                                                              or _is_text(node.right)):
            yield ast.BinOp(node.left, opposite(), node.right)
        case ast.BoolOp():
            yield ast.BoolOp(_OPPOSITE[type(node.op)](), node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield ast.Constant(node.value + 1)
        case ast.If():
            yield ast.Constant(False)
        case ast.Return(value=ast.Attribute(attr=name)) if name.isupper():
            yield ast.Pass()  # a status that is not returned
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()  # a call whose result nobody takes


def _is_text(node: ast.AST) -> bool:
    """Return whether it is a text: one that is formatted by % or joined is a message."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def changes_in(source: str) -> int:
    """Return how many changes can be made in a source file."""
    counting = _Change(-1)
    counting.visit(ast.parse(source))
    return counting.count


def changed_source(source: str, number: int) -> tuple[str, str]:
    """The source with a change, elsewhere as it is, since some tests read it; and the function with the change."""
    change = _Change(number)
    change.visit(ast.parse(source))
    assert change.found is not None
    old, new, function = change.found
    text = ast.unparse(new)
    if isinstance(new, ast.expr) and not isinstance(new, ast.Constant):
        text = f"({text})"
    lines = source.encode().splitlines(keepends=True)
    assert old.end_lineno is not None and old.end_col_offset is not None
    first = b"".join(lines[:old.lineno - 1]) + lines[old.lineno - 1][:old.col_offset]
    last = lines[old.end_lineno - 1][old.end_col_offset:] + b"".join(lines[old.end_lineno:])
    return (first + text.encode() + last).decode(), function


def arguments_of(suite: str, source: str, function: str) -> list[str]:
    """What pytest is told for a change of a function. Where no test is known to call it, as while modules are
    imported or kernels are compiled, all tests are run."""
    near = tests_for([source])
    if suite == "near":
        return [*DAILY, *(near or NO_TEST)]
    costs, called = read_table(), f"{source}:{function}"
    callers = [test for test, names in calls().items()
               if any(name == called or name.startswith(f"{called}.<locals>") for name in names)]
    callers.sort(key=lambda test: costs.get(test, 0.0))
    if suite == "day":
        return [*DAILY, *([test for test in callers if test not in near] or (NO_TEST if callers else ()))]
    return ["-m", "thorough", "--hypothesis-profile=thorough", *callers]


@cache
def calls() -> dict[str, set[str]]:
    """The functions that each test module calls."""
    return read_calls(CALLS)


def choose(count: int, seed: int) -> list[tuple[str, int]]:
    """(source file, number of the change in it), chosen over all packages: a folder of a package is as likely as its
    share of the changes, a kernel's module three times as likely as another one."""
    weights, places = [], []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            found = changes_in(file.read_text())
            weights.append(found * (3 if "kernel" in file.name else 1))
            places.append((str(file.relative_to(ROOT)), found))
    chooser = random.Random(seed)
    return [(name, chooser.randrange(found)) for name, found in chooser.choices(places, weights, k=count)]


class Checkout:
    """A copy of the checkout beside a copy of this user's kernels, in which one mutant after another is judged."""

    def __init__(self, folder: Path) -> None:
        self.root, self._caches = folder / "checkout", folder
        left_out = (".venv", ".git", "build", ".*_cache", ".hypothesis")
        shutil.copytree(ROOT, self.root, symlinks=True, ignore=shutil.ignore_patterns(*left_out))
        (self.root / ".venv").symlink_to(ROOT / ".venv")
        self._kernels = folder / "mysql-binlog-applier"
        kept = Path(kernel_cache.directory()).parent
        for kernels in kept.glob("kernels-*/*-*/"):
            if is_current(kernels.name):
                shutil.copytree(kernels, self._kernels / kernels.relative_to(kept))
        environment = os.environ | {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "",
                                    "XDG_CACHE_HOME": str(self._caches)}
        self._pytest = subprocess.Popen([sys.executable, "-m", "tests.support.warm_pytest"], cwd=self.root,
                                        env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def judge(self, source: str, function: str, before: str, after: str,
              until: str) -> Iterator[tuple[str, str, float, str]]:
        """Yield (suite, outcome, seconds, the test that failed), up to the first suite that fails."""
        for suite in SUITES:
            arguments = arguments_of(suite, source, function)
            begun, outcome, test = time.monotonic(), "survives", ""
            self._write(source, after)
            if code := self._exit_code(arguments, LONGEST[suite]):
                found = re.findall(r"^(?:FAILED|ERROR) (\S+)", (self._caches / "said").read_text(), re.MULTILINE)
                test = found[0] if found else f"no test by itself, exit code {code}"
                self._write(source, before)
                last = ["--last-failed", *arguments]
                waits = code == -signal.SIGKILL
                outcome = "is not judged by" if waits or self._exit_code(last, LONGEST[suite]) else "is killed by"
            yield suite, outcome, time.monotonic() - begun, test
            if outcome != "survives" or suite == until:
                break
        self._write(source, before)
        self._forget_mutants()

    def _forget_mutants(self) -> None:
        """Remove the kernels that were compiled from other sources."""
        for folder in self._kernels.glob("kernels-*/*-*/"):
            if not is_current(folder.name):
                shutil.rmtree(folder)

    def _write(self, source: str, text: str) -> None:
        """Write a source file, and remove its byte code, which is only known by the second of the file's time."""
        file = self.root / source
        file.write_text(text)
        Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)

    def _exit_code(self, arguments: list[str], seconds: int) -> int:
        """Return that of pytest in the checkout; 0 also where there is no test."""
        line = [str(self._caches / "said"), seconds, "-q", "-x", f"--basetemp={self._caches}/tmp", *arguments]
        asked, answered = self._pytest.stdin, self._pytest.stdout
        assert asked and answered
        print(json.dumps(line), file=asked, flush=True)
        code = int(answered.readline())
        return 0 if code == NO_TESTS else code


def is_current(folder: str) -> bool:
    """Return whether a directory of kernels is of the sources as they are, and not of a mutant."""
    module = folder.rpartition("-")[0]
    return (ROOT / f"{module.replace('.', '/')}.py").exists() and kernel_cache.folder(module) == folder


def report(number: int, source: str, change: int, until: str, checkouts: queue.SimpleQueue[Checkout]) -> str:
    """Judge a mutant in a checkout that is free, print the outcome of each suite, and return the last for the count."""
    text = (ROOT / source).read_text()
    mutant, function = changed_source(text, change)
    checkout, outcome = checkouts.get(), ""
    for suite, outcome, seconds, test in checkout.judge(source, function, text, mutant, until):
        print(f"{number}: {source} {outcome} {suite} after {seconds:.0f} s{test and ': ' + test}", flush=True)
    checkouts.put(checkout)
    if outcome != "survives":
        return f"{outcome} {suite}"
    print("\n".join(difflib.unified_diff(text.splitlines(), mutant.splitlines(), "before", "after", n=2, lineterm="")),
          flush=True)
    return outcome


def main() -> None:
    """Make mutants, and print for each which suite killed it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--until", choices=SUITES, default="all")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.jobs) as pool:
        checkouts = queue.SimpleQueue[Checkout]()
        for job in range(asked.jobs):
            checkouts.put(Checkout(Path(folder, str(job))))
        chosen = [(number, *place) for number, place in enumerate(choose(asked.count, asked.seed))
                  if asked.only is None or number in asked.only]
        outcomes = Counter(pool.map(lambda mutant: report(*mutant, asked.until, checkouts), chosen))
    print(", ".join(f"{name}: {count}" for name, count in outcomes.items()))


if __name__ == "__main__":
    main()
