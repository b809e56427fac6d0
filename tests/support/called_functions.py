"""Which functions and kernels of the packages each test module calls: `pytest --calls=FOLDER` writes them.

A module's file has a name a line, as "applier/errors.py:reason", of the process of the test, of its forks, and of the
processes that it starts with Python. Processes of Spark serve all tests of the folder `cluster`, and so do their calls.
"""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from tests.support.folders import ROOT
from tests.support.watched.sitecustomize import FOLDER, Watch

WATCHED = ROOT / "tests" / "support" / "watched"
CLUSTER = "tests/cluster/"
MEMORY = "keysearch.memory"


class CalledFunctions:
    """Watches the tests of a run, module by module."""

    def __init__(self, folder: str) -> None:
        folder = os.path.abspath(folder)
        os.makedirs(folder, exist_ok=True)
        os.environ |= {FOLDER: folder, "PYTHONPATH": f"{WATCHED}:{os.environ.get('PYTHONPATH', ROOT)}"}
        self._watch, self._module = Watch(folder), ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Begin a file where another module's tests begin, before its fixtures are made."""
        if (module := str(item.path.relative_to(ROOT))) != self._module:
            self._module = module
            self._watch.begin(module)


def read_calls(folder: Path) -> dict[str, set[str]]:
    """The functions that each test module calls, those included that are compiled into kernels which it calls."""
    calls: dict[str, set[str]] = defaultdict(set)
    for file in folder.iterdir():
        calls[file.name.replace(",", "/")].update(file.read_text().split("\n")[:-1])
    together = set().union(*(called for test, called in calls.items() if test.startswith(CLUSTER)))
    for test, called in calls.items():
        if test.startswith(CLUSTER):
            called |= together
        for name in [*called]:
            called |= _compiled_with(name)
    return calls


@cache
def _compiled_with(name: str) -> frozenset[str]:
    """The compiled functions that a compiled function names, and those that they name."""
    found, new = set[str](), [name]
    while new:
        source, _, function = new.pop().partition(":")
        for other in _named_in(source).get(function, ()):
            if other not in found:
                found.add(other)
                new.append(other)
    return frozenset(found)


@cache
def _named_in(source: str) -> dict[str, set[str]]:
    """By compiled function of a source file, the compiled functions that it names."""
    if not _is_compiled(source):
        return {}
    tree, functions = _parsed(source)
    meanings = {name: f"{source}:{name}" for name in functions}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and _is_compiled(file := _file(node.module)):
            there = _parsed(file)[1]
            meanings |= {alias.asname or alias.name: f"{file}:{alias.name}" for alias in node.names
                         if alias.name in there}
    return {name: {meanings[part.id] for part in ast.walk(function) if isinstance(part, ast.Name)
                   and part.id in meanings and part.id != name} for name, function in functions.items()}


@cache
def _parsed(source: str) -> tuple[ast.Module, dict[str, ast.FunctionDef]]:
    tree = ast.parse((ROOT / source).read_text())
    return tree, {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


@cache
def _is_compiled(source: str) -> bool:
    """Return whether a source file has kernels: they read memory by what one module has for that."""
    if source == _file(MEMORY):
        return True
    return (ROOT / source).exists() and f"from {MEMORY} import" in (ROOT / source).read_text()


def _file(module: str) -> str:
    return f"{module.replace('.', '/')}.py"
