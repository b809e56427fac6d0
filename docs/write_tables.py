"""Copies tables of measurements into the pages that name them: `python docs/write_tables.py`, or `make drawing`.

A page says `<!-- table: TITLE -->`, the title of a table in benchmarks/RESULTS.md, or `<!-- table: tests -->`, what
tests cost by folder out of tests/costs.tsv; and `<!-- end -->`.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
COSTS = ROOT / "tests" / "costs.tsv"
PAGES = (ROOT / "README.md", ROOT / "docs" / "PERFORMANCE.md", ROOT / "docs" / "TESTING.md")
_PLACE = re.compile(r"<!-- table: (.*) -->\n.*?<!-- end -->", re.DOTALL)


def page(text: str) -> str:
    """A page's text with the tables as they were measured last."""
    return _PLACE.sub(lambda place: f"<!-- table: {place[1]} -->\n{_table(place[1])}\n<!-- end -->", text)


def _table(title: str) -> str:
    """The rows of a table, and the day on which they were measured."""
    if title == "tests":
        return _costs_of_tests()
    part = RESULTS.read_text().split(f"### {title}\n")[1].split("### ")[0]
    return "\n" + "\n".join(line for line in part.splitlines() if line.startswith("|")) + "\n"


def _costs_of_tests() -> str:
    """By folder of tests: CPU seconds of the everyday tests and of the thorough ones, and how many there are."""
    folders: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    for module, *figures in (line.split("\t") for line in COSTS.read_text().splitlines()):
        for folder in ("/".join(module.split("/")[:2]), "all"):
            folders[folder] = [total + float(figure) for total, figure in zip(folders[folder], figures, strict=True)]
    lines = ["| folder | everyday tests | CPU seconds | thorough tests | CPU seconds |", "|" + " --- |" * 5]
    for name, (day, thorough, tests, more) in sorted(folders.items(), key=lambda row: (row[0] == "all", -row[1][0])):
        title = name if name == "all" else f"`{name}`"
        lines.append(f"| {title} | {tests:,.0f} | {day:.0f} | {more:,.0f} | {thorough:.0f} |")
    return "\n" + "\n".join(lines) + "\n"


def main() -> int:
    for path in PAGES:
        path.write_text(page(path.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
