"""What mypy is told to let be: kernels, and lines that say why."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [file for package in ("applier", "jsondiff", "keysearch", "docs", "build-backend")
           for file in sorted((ROOT / package).rglob("*.py"))]
PRAGMA = "# mypy: allow-untyped-defs, no-check-untyped-defs"
_DECORATORS = {"kernel", "inline", "always_inline", "intrinsic"}


def is_compiled(function):
    return bool(_DECORATORS & {getattr(decorator, "id", "") for decorator in function.decorator_list})


def functions(body):
    """The functions of a module or a class that Python runs: those that Numba compiles are none of them."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from functions(node.body)
        elif isinstance(node, ast.FunctionDef) and not is_compiled(node):
            yield node


def test_a_module_is_told_to_mypy_in_its_first_line_and_in_one_way():
    told = [file for file in SOURCES if "# mypy:" in file.read_text()]
    assert told
    assert [str(file) for file in told if not file.read_text().startswith(PRAGMA + "\n")] == []


@pytest.mark.parametrize("file", [file for file in SOURCES if file.read_text().startswith(PRAGMA)], ids=str)
def test_only_kernels_go_without_types(file):
    tree = ast.parse(file.read_text())
    assert any(isinstance(node, ast.FunctionDef) and is_compiled(node) for node in ast.walk(tree)), \
        "there is no kernel here: mypy is to check it"
    for function in functions(tree.body):
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        bare = [argument.arg for argument in arguments
                if argument.annotation is None and argument.arg not in ("self", "cls")]
        assert function.returns is not None and not bare, f"{function.name} runs as Python, and has no types: {bare}"


def test_what_is_silenced_has_a_code_and_a_reason():
    bare = [f"{file.relative_to(ROOT)}:{number}" for file in SOURCES
            for number, line in enumerate(file.read_text().splitlines(), 1)
            if "type: ignore" in line and not re.search(r"# type: ignore\[[\w, -]+\]  # \w", line)]
    assert bare == []


def test_no_package_is_left_out():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert settings["strict"]
    assert settings["files"] == ["applier", "jsondiff", "keysearch", "build-backend/compiled_wheel.py", "docs"]
    assert {name for override in settings["overrides"] for name in override} == {"module", "ignore_missing_imports"}
