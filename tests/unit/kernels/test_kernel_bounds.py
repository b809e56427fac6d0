"""How kernels compare lengths with ends: a length out of a log may be any number, and a sum with it may overflow."""

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from applier.kernels import catalogue as kernels

_ENDS = ("end", "stop", "limit", "room", "END", "BYTES", "ROOM")


def test_no_length_is_added_to_a_place_before_it_is_compared_with_an_end():
    """`length > end - at`, in all kernels: `at + length > end` is wrong where the sum overflows."""
    assert {"keybytes_kernel.py", "string_kernel.py", "rows_event_kernel.py"} <= {path.name for path in _files()}
    assert [found for path in _files() for found in sums_compared(path.read_text(), path.name)] == []


def test_a_sum_that_is_compared_with_an_end_is_found():
    """Also with the operands the other way around; a constant may be added, since a place is far from overflowing."""
    text = ("@inline\ndef f(at, length, end, state):\n    if at + length > end:\n        return 1\n"
            "    while load_i64(state + OUT_END) >= 8 + at + 4 * length:\n        at += 1\n"
            "    return at + 8 <= end or length > end - at\n"
            "def python(at, length, end):\n    return at + length > end\n")
    assert sums_compared(text, "m.py") == ["m.py:3", "m.py:5"]


def _files() -> list[Path]:
    """The modules with functions that are compiled, those among them that only kernels call."""
    root = Path(kernels.__file__).resolve().parents[2]
    return [path for name in kernels.PACKAGES for path in sorted((root / name).rglob("*.py"))]


def sums_compared(text: str, name: str) -> list[str]:
    """Where compiled functions of a module compare a sum of places and lengths with an end."""
    if not re.search(r"^ *@(kernel|inline)\b", text, re.MULTILINE):
        return []
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)
                 and {mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)} & {"kernel", "inline"}]
    return [f"{name}:{compare.lineno}" for function in functions for compare in ast.walk(function)
            if isinstance(compare, ast.Compare) and any(
                _is_sum(one) and _is_end(other) for one, other in _pairs([compare.left, *compare.comparators]))]


def _pairs(operands: list[ast.expr]) -> Iterator[tuple[ast.expr, ast.expr]]:
    for left, right in itertools.pairwise(operands):
        yield from ((left, right), (right, left))


def _is_sum(node: ast.expr) -> bool:
    """Return whether it adds two things that are no constants."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and len(_variable_addends(node)) > 1


def _variable_addends(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _variable_addends(node.left) + _variable_addends(node.right)
    return [] if isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper()) else [node]


def _is_end(node: ast.expr) -> bool:
    """Return whether it is named as an end, or loaded from where one is kept."""
    if isinstance(node, ast.Call):
        return any(_is_end(part) for argument in node.args for part in ast.walk(argument) if isinstance(part, ast.Name))
    return isinstance(node, ast.Name) and node.id.split("_")[-1] in _ENDS
