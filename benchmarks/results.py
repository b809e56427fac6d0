"""RESULTS.md: each table with the day on which it was measured, so that some may be measured again alone."""

import re
from collections.abc import Sequence

from benchmarks.report import Table

_HEADING = re.compile(r"^(?=### )", re.MULTILINE)


def with_tables(before: str, tables: Sequence[Table], machine: str, day: str) -> str:
    """The page with these tables, measured on `day` (as 2026-11-23), instead of those of the same titles, new ones
    after the others; and what they were measured on."""
    _, *parts = _HEADING.split(before)
    texts = {part.splitlines()[0]: part.rstrip("\n") for part in parts}
    for table in tables:
        texts[f"### {table.title}"] = f"{table.markdown().rstrip()}\n\nMeasured on {day}."
    return "\n\n".join([f"Measured on: {machine}", *texts.values()]) + "\n"
