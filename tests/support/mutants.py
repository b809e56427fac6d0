"""What the tests notice: one thing at a time is changed in a kernel or in Python, and the tests are run.

    make mutants ARGS="300 --seed 1"        by the tests near the change, then by those of every day, then by all

A mutant is made in a copy of the checkout. It is killed by the first of three suites that fails: `near` (the tests that
tests/near.tsv names for its file), `day` (what `make test` runs), `all` (what `make test-all` runs); `--until near`
stops earlier. A test that fails without the mutant, too, kills none. Survivors are printed as differences, each with
its number, by which `--only` runs it again.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from keysearch import kernel_cache
from tests.support.called_functions import PACKAGES
from tests.support.folders import ROOT
from tests.support.near import DAILY, tests_for

SUITES: dict[str, Callable[[str], list[str]]] = {
    "near": lambda source: [*DAILY, *(tests_for([source]) or ["--deselect=tests"])],
    "day": lambda source: [*DAILY],
    "all": lambda source: [],
}
"""What pytest is told for a changed file, by suite."""
LONGEST = {"near": 240, "day": 1800, "all": 3600}
"""Seconds after which a suite counts as failed: a loop does not end."""
NO_TESTS = 5
"""pytest's exit code where none is chosen."""
_OPPOSITE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
             ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub,
             ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr,
             ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.And: ast.Or, ast.Or: ast.And}


class _Change(ast.NodeTransformer):
    """Makes the change with a number, and counts those that could be made."""

    def __init__(self, number: int) -> None:
        self.number, self.count, self._depth = number, 0, 0

    def _is_it(self) -> bool:
        self.count += 1
        return self._depth > 0 and self.count - 1 == self.number

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Only what functions do is changed: constants of a module are data."""
        self._depth += 1
        node.body = [self.visit(statement) for statement in node.body]
        self._depth -= 1
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def _swapped(self, operator: ast.AST) -> ast.AST:
        return _OPPOSITE[type(operator)]() if type(operator) in _OPPOSITE and self._is_it() else operator

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """An operator, or its bound."""
        self.generic_visit(node)
        if self._depth:
            node.ops = [self._swapped(operator) for operator in node.ops]  # type: ignore[misc]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """An operator of numbers; texts that are formatted by % or joined are messages."""
        self.generic_visit(node)
        if self._depth and not any(isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant)
                                   and isinstance(side.value, str)) for side in (node.left, node.right)):
            node.op = self._swapped(node.op)  # type: ignore[assignment]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """and, or."""
        self.generic_visit(node)
        if self._depth:
            node.op = self._swapped(node.op)  # type: ignore[assignment]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """A negation that is left out."""
        self.generic_visit(node)
        return node.operand if self._depth and isinstance(node.op, ast.Not) and self._is_it() else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A number that is one more, a truth that is the other."""
        if self._depth and isinstance(node.value, bool | int) and self._is_it():
            return ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        """A branch that is never taken."""
        self.generic_visit(node)
        if self._depth and self._is_it():
            node.test = ast.Constant(False)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """A status that is not returned."""
        self.generic_visit(node)
        is_status = isinstance(node.value, ast.Attribute) and node.value.attr.isupper()
        return ast.Pass() if self._depth and is_status and self._is_it() else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """A call whose result nobody takes, left out."""
        self.generic_visit(node)
        return ast.Pass() if self._depth and isinstance(node.value, ast.Call) and self._is_it() else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """A message: what it says is not what is changed."""
        return node


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def changes_in(source: str) -> int:
    """How many changes can be made in a source file."""
    counting = _Change(-1)
    counting.visit(ast.parse(source))
    return counting.count


def changed_source(source: str, number: int) -> tuple[str, str] | None:
    """The source as Python prints it, without a change and with it; None where both would be the same."""
    tree = ast.parse(source)
    made = _Change(number).visit(copy.deepcopy(tree))
    before, after = ast.unparse(tree), ast.unparse(ast.fix_missing_locations(made))
    return None if before == after else (_with_comment_lines(source, before), _with_comment_lines(source, after))


def _with_comment_lines(source: str, after: str) -> str:
    """Numba's marks and mypy's are read from comments, of which the first lines are kept."""
    first = [line for line in source.splitlines()[:2] if line.startswith("#")]
    return "\n".join([*first, after, ""])


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


def copies(folder: Path) -> Path:
    """A copy of the checkout, in which mutants are made one after another, beside a copy of this user's caches."""
    made = folder / "checkout"
    shutil.copytree(ROOT, made, symlinks=True, ignore=shutil.ignore_patterns(".venv", ".git", "__pycache__", "build",
                                                                             ".*_cache", ".hypothesis"))
    (made / ".venv").symlink_to(ROOT / ".venv")
    shutil.copytree(Path(kernel_cache.directory()).parent, folder / "mysql-binlog-applier")
    return made


def fails(checkout: Path, arguments: list[str], seconds: float) -> bool:
    """Whether pytest fails in the checkout, or does not end."""
    environment = os.environ | {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1",
                                "XDG_CACHE_HOME": str(checkout.parent)}
    words = [sys.executable, "-m", "pytest", "-q", "-x", *arguments]
    with open(checkout.parent / "said", "w+") as said:
        run = subprocess.Popen(words, cwd=checkout, env=environment, stdout=said, stderr=said, start_new_session=True)
        try:
            return run.wait(seconds) not in (0, NO_TESTS)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, 9)
            run.wait()
            return True


def killed_by(file: Path, before: str, after: str, checkout: Path, until: str) -> Iterator[tuple[str, str, float]]:
    """(suite, what becomes of the mutant, seconds), up to the first suite that fails."""
    for suite, arguments in SUITES.items():
        begun, outcome = time.monotonic(), "survives"
        (checkout / file).write_text(after)
        if fails(checkout, ["-n", "2", "--dist", "worksteal", *arguments(str(file))], LONGEST[suite]):
            (checkout / file).write_text(before)
            last = ["--last-failed", "--last-failed-no-failures", "none", *arguments(str(file))]
            again = fails(checkout, last, LONGEST[suite])
            outcome = "is not judged by" if again else "is killed by"
        yield suite, outcome, time.monotonic() - begun
        if outcome != "survives" or suite == until:
            return


def main() -> None:
    """Make mutants, and print for each which suite killed it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--until", choices=SUITES, default="all")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants")
    asked = parser.parse_args()
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        checkout = copies(Path(folder))
        for number, (source, change) in enumerate(choose(asked.count, asked.seed)):
            if asked.only is not None and number not in asked.only:
                continue
            text = (ROOT / source).read_text()
            if (changed := changed_source(text, change)) is None:
                continue
            suite, outcome = "", ""
            for suite, outcome, seconds in killed_by(Path(source), *changed, checkout, asked.until):
                print(f"{number}: {source} {outcome} {suite} after {seconds:.0f} s", flush=True)
            (checkout / source).write_text(text)
            outcomes[outcome if outcome == "survives" else f"{outcome} {suite}"] += 1
            if outcome == "survives":
                lines = [text.splitlines() for text in changed]
                print("\n".join(difflib.unified_diff(*lines, "before", "after", n=2, lineterm="")), flush=True)
    print(", ".join(f"{name}: {count}" for name, count in outcomes.items()))


if __name__ == "__main__":
    main()
