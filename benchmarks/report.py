"""Tables of figures as Markdown, which a terminal shows as well as a README does."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version


@dataclass
class Table:
    """Figures of one kind. Cells are text already; `note` says in a line or two what the figures are. `plot`, where
    there is one, is an SVG of them, for a file of the docs with this name."""

    title: str
    note: str
    header: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    plot: tuple[str, str] | None = None

    def markdown(self) -> str:
        """Heading, note and aligned table; the first column left, figures right."""
        lines = [[cell.replace("|", "\\|") for cell in line] for line in (self.header, *self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        rule = [
            "-" * max(3, width) if not column else "-" * max(2, width - 1) + ":" for column, width in enumerate(widths)
        ]
        text = [self._line(line, widths) for line in (lines[0], rule, *lines[1:])]
        return "\n".join([f"### {self.title}", "", self.note, "", *text, ""])

    @staticmethod
    def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
        padded = [
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"


def number(value: float | None) -> str:
    """Three significant digits, thousands with commas; a dash for what was not measured."""
    if value is None:
        return "–"
    rounded = float(f"{value:.3g}")
    whole = len(str(int(abs(rounded))))
    return f"{rounded:,.{max(0, 3 - whole)}f}"


def ratio(ours: float | None, theirs: float | None) -> str:
    """Return how many times more `ours` is, a dash where one is missing."""
    return "–" if not ours or not theirs else f"{number(ours / theirs)} ×"


def machine() -> str:
    """What all figures were taken on."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    packages = ("numba", "pyarrow", "pyspark", "duckdb", "polars", "mysql-replication")
    versions = ", ".join(f"{name} {found}" for name in packages if (found := _version(name)))
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}."


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _lines(path: str) -> list[str]:
    try:
        with open(path) as stream:
            return stream.read().splitlines()
    except OSError:
        return []
