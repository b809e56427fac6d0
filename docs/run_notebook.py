"""Runs the cells of tour.ipynb and writes what they show into it: `python docs/run_notebook.py`, or `make drawing`."""

import ast
import json
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("tour.ipynb")


def page() -> str:
    """The notebook as it should be."""
    notebook = json.loads(PAGE.read_text())
    known: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate((cell for cell in notebook["cells"] if cell["cell_type"] == "code"), 1):
        shown = _run("".join(cell["source"]), known)
        cell["execution_count"] = number
        cell["outputs"] = [] if shown is None else [{
            "data": {"text/plain": repr(shown).splitlines(keepends=True)}, "execution_count": number, "metadata": {},
            "output_type": "execute_result"}]
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _run(source: str, known: dict[str, Any]) -> object:
    """Run a cell; the value of its last line, if that is an expression."""
    body = ast.parse(source).body
    last = body[-1].value if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body if last is None else body[:-1], []), "<cell>", "exec"), known)
    return None if last is None else eval(compile(ast.Expression(last), "<cell>", "eval"), known)


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.exit(0)
