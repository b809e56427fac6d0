"""Writes into ERRORS.md, below each number, the messages that the code has for it: `python docs/write_errors.py`, or
`make drawing`. Values in a message are `…`."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import applier.errors

PAGE = Path(__file__).with_name("ERRORS.md")
CODE = Path(__file__).parents[1] / "applier"
_PLACE = re.compile(r"<!-- messages: ([\d, ]+) -->\n.*?<!-- end -->", re.DOTALL)


def page() -> str:
    """The page as it should be."""
    def table(place: re.Match[str]) -> str:
        numbers = {int(number) for number in place[1].split(", ")}
        rows = sorted({(message, hint) for number, message, hint in _raised() if number in numbers})
        lines = [f"| {_cell(message)} | {_cell(hint)} |" for message, hint in rows]
        return "\n".join([f"<!-- messages: {place[1]} -->", "", "| message | hint |", "| --- | --- |", *lines, "",
                          "<!-- end -->"])

    return _PLACE.sub(table, PAGE.read_text())


def numbers() -> set[int]:
    """MySQL's numbers that errors have in the code."""
    named = {value for value in vars(applier.errors).values() if isinstance(value, int)}
    return named | {number for number, _, _ in _raised()}


@cache
def _raised() -> frozenset[tuple[int, str, str]]:
    """The number, message and hint of each error that is made with a number and a message of its own."""
    return frozenset(_read())


def _read() -> Iterator[tuple[int, str, str]]:
    texts = (path.read_text() for path in sorted(CODE.rglob("*.py")))
    for text in (text for text in texts if "errno=" in text):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and node.args:
                parts = {keyword.arg: keyword.value for keyword in node.keywords}
                number, message = _number(parts.get("errno")), _text(node.args[0])
                if number is not None and set(message) != {"…"}:
                    yield number, message, _text(parts["hint"]) if "hint" in parts else ""


def _number(node: ast.expr | None) -> int | None:
    value = node.value if isinstance(node, ast.Constant) else getattr(applier.errors, getattr(node, "id", ""), None)
    return value if isinstance(value, int) else None


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_text, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
    return "…"


def _cell(text: str) -> str:
    return re.sub(r"([*_<|])", r"\\\1", text) if set(text) != {"…"} else ""


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.exit(0)
