"""Round numbers and times for the axes of plots."""

from __future__ import annotations

from datetime import UTC, datetime

_WIDTHS = (60, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400,
           14 * 86400)
"""Seconds between ticks."""


def of_numbers(highest: float) -> list[float]:
    """Return up to five round numbers from 0 on, the last of them at least `highest`."""
    if highest <= 0:
        return [0.0, 1.0]
    step = 1.0
    while highest > 4 * step:
        step *= 2 if str(step)[0] != "2" else 2.5
    return [step * number for number in range(int(-(-highest // step)) + 1)]


def short_number(value: float) -> str:
    """As 12k, 1.5M: for an axis."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:g}"


def of_times(first: int, last: int, most: int) -> list[int]:
    """Return round times in [first, last], epoch seconds: at most `most`, by UTC."""
    width = next((width for width in _WIDTHS if (last - first) / width < most), None)
    if width is None:
        width = _WIDTHS[-1]
        while (last - first) / width >= most:
            width *= 2
    return list(range(first + -first % width, last + 1, width))


def time_label(time: int, before: int | None) -> tuple[str, str]:
    """Return the label of a tick: the time of the day; and the date if it differs from that of the tick before, with
    the year if that differs."""
    here = datetime.fromtimestamp(time, UTC)
    there = None if before is None else datetime.fromtimestamp(before, UTC)
    if there is None or there.year != here.year:
        return f"{here:%H:%M}", f"{here:%Y-%m-%d}"
    return f"{here:%H:%M}", f"{here:%m-%d}" * (there.date() != here.date())
