"""Copies tables of the benchmark into the pages that name them: `python docs/write_tables.py`, or `make drawing`.

A page says `<!-- table: TITLE -->`, the title of a table in benchmarks/RESULTS.md, and `<!-- end -->`.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
PAGES = (ROOT / "README.md", ROOT / "docs" / "PERFORMANCE.md")
_PLACE = re.compile(r"<!-- table: (.*) -->\n.*?<!-- end -->", re.DOTALL)


def page(text: str) -> str:
    """A page's text with the tables as they were measured last."""
    return _PLACE.sub(lambda place: f"<!-- table: {place[1]} -->\n{_table(place[1])}\n<!-- end -->", text)


def _table(title: str) -> str:
    """The rows of a table, and the day on which they were measured."""
    part = RESULTS.read_text().split(f"### {title}\n")[1].split("### ")[0]
    return "\n" + "\n".join(line for line in part.splitlines() if line.startswith("|")) + "\n"


def main() -> int:
    for path in PAGES:
        path.write_text(page(path.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
