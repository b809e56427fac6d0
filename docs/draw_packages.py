"""Draws the packages and their imports into ARCHITECTURE.md: `python docs/draw_packages.py`, or `make drawing`.

The drawing is Mermaid's, which code hosts show as a picture. An arrow is an import, and goes down; one that others
imply is left out. Imports for annotations alone do not count.
"""

import sys
from pathlib import Path

import grimp

PAGE = Path(__file__).with_name("ARCHITECTURE.md")
BEGIN, END = "<!-- drawing: begin -->\n", "<!-- drawing: end -->\n"
PACKAGES = ("applier", "jsondiff", "keysearch")
_EVERYWHERE = {"errors", "applier"}
"""What all import: errors, and the version. Their arrows would hide the others."""


def imports() -> dict[str, set[str]]:
    """What each package imports, by names without `applier.`"""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True)
    found: dict[str, set[str]] = {}
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            above, below = _package(module), _package(other)
            found.setdefault(above, set())
            found.setdefault(below, set())
            if above != below and not _EVERYWHERE & {above, below}:
                found[above].add(below)
    return {name: found[name] for name in sorted(found) if name not in _EVERYWHERE}


def _package(module: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == "applier" and len(parts) > 1 else parts[0]


def ranks(edges: dict[str, set[str]]) -> list[list[str]]:
    """The packages in rows, each above all that it imports. Raises ValueError where there is a circle."""
    rows: list[list[str]] = []
    placed: set[str] = set()
    while len(placed) < len(edges):
        row = [name for name, below in edges.items() if name not in placed and below <= placed]
        if not row:
            raise ValueError(f"a circle among {sorted(set(edges) - placed)}")
        rows.append(row)
        placed.update(row)
    return rows[::-1]


def drawing() -> str:
    """The part of the page between its marks."""
    edges = imports()
    lines = ["```mermaid", "flowchart TD"]
    for row in ranks(edges):
        lines += [f"    {name}" for name in row]
    for name, below in edges.items():
        implied = {further for other in below for further in _reached(edges, other)}
        lines += [f"    {name} --> {other}" for other in sorted(below - implied)]
    return "\n".join([*lines, "```", ""])


def _reached(edges: dict[str, set[str]], name: str) -> set[str]:
    found: set[str] = set()
    for other in edges[name]:
        found |= {other} | _reached(edges, other)
    return found


def main() -> int:
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    PAGE.write_text(head + BEGIN + drawing() + END + rest.split(END)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
