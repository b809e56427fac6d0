"""Columns over time: one per step, in stacked parts; a large plot of everything, small ones of each table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from applier.jobs.pages import ticks
from applier.jobs.pages.parts import Part, described, escape, legend

_LEAST_STEPS = 12
"""A plot of fewer has room at its sides, so that columns do not look like bars."""
_SCREENS = {"wide": (5.0, 7), "narrow": (13.0, 4)}
"""Percent of the width within which marks are one, and the most times on the axis: so that they do not cover each other
on wide and narrow screens."""
_NEAR_EVENTS = 2.5
_END = 94
"""Percent of the width from which on a time stands left of its tick, so that it does not leave the page."""


@dataclass(frozen=True)
class Mark:
    """An event at a time: a short `label`, its text, and the anchor of more text on the page ("" for none)."""

    time: int
    label: str
    words: str
    anchor: str = ""


@dataclass(frozen=True)
class Steps:
    """Where steps of `seconds` lie in a plot, from `first`, an epoch second, on."""

    first: int
    seconds: int
    count: int

    @property
    def columns(self) -> int:
        """All that the plot has room for."""
        return max(self.count, _LEAST_STEPS)

    @property
    def before(self) -> float:
        """Columns of room before the first step."""
        return (self.columns - self.count) / 2

    def percent(self, time: float) -> float:
        """Return where a time is, in percent of the plot's width."""
        return 100 * (self.before + (time - self.first) / self.seconds) / self.columns


def timeline(title: str, steps: Steps, values: Sequence[tuple[str, Sequence[int]]], parts: Sequence[Part],
             marks: Sequence[Mark] = (), events: Sequence[Mark] = ()) -> str:
    """Return a chart of `values`, (label, a value for each of `parts`) for each of the steps. `marks` are numbered
    above it, `events` are points on its axis."""
    numbers = ticks.of_numbers(max((sum(counts) for _, counts in values), default=0))
    said = escape(f"{title}. {_peak(values, parts)}")
    hover = "".join(f'<rect class="hover" x="{steps.before + step:g}" width="1" height="100"><title>'
                    f"{escape(described(label, parts, [f'{count:,}' for count in counts]))}</title></rect>"
                    for step, (label, counts) in enumerate(values) if any(counts))
    lines = "".join(f'<span class="line" style="bottom:{100 * number / numbers[-1]:.4g}%">'
                    f"<b>{ticks.short_number(number)}</b></span>" for number in numbers)
    return "\n".join([
        '<figure class="timeline">', f"<figcaption>{escape(title)}{legend(parts)}</figcaption>", '<div class="plot">',
        *(f'<div class="marks {screen}">{_marks(steps, marks, near)}</div>' for screen, (near, _) in _SCREENS.items()),
        f'<div class="area">{lines}',
        f'<svg role="img" aria-label="{said}" viewBox="0 0 {steps.columns} 100" preserveAspectRatio="none">',
        _paths(steps, [counts for _, counts in values], parts, numbers[-1]), hover, "</svg>",
        f"{_events(steps, events)}</div>",
        *(f'<div class="times {screen}">{_times(steps, most)}</div>' for screen, (_, most) in _SCREENS.items()),
        "</div>", "</figure>"])


def small_timeline(title: str, steps: Steps, values: Sequence[tuple[str, Sequence[int]]], parts: Sequence[Part]) -> str:
    """Return a chart without axes, of one of several that stand side by side with the same steps; each has its own
    scale, and says how high it is."""
    highest = max((sum(counts) for _, counts in values), default=0)
    total = sum(sum(counts) for _, counts in values)
    return "\n".join([
        '<figure class="small">', f'<figcaption><span class="name" title="{escape(title)}">{escape(title)}</span> '
        f'<span class="total">{total:,}</span></figcaption>', '<div class="area">',
        f'<svg role="img" viewBox="0 0 {steps.columns} 100" preserveAspectRatio="none">',
        f"<title>{escape(f'{title}: {total:,} row changes. {_peak(values, parts)}')}</title>",
        _paths(steps, [counts for _, counts in values], parts, highest), "</svg>",
        f'<span class="top">{highest:,}</span></div>', "</figure>"])


def _paths(steps: Steps, values: Sequence[Sequence[int]], parts: Sequence[Part], highest: float) -> str:
    """Return a path for each part: a rectangle for each step, on those of the parts before."""
    scale, bottoms, paths = 100 / highest if highest else 0.0, [100.0] * len(values), []
    for number, part in enumerate(parts):
        drawn = []
        for step, counts in enumerate(values):
            if counts[number]:
                high = max(counts[number] * scale, 0.6)
                bottoms[step] -= high
                drawn.append(f"M{steps.before + step + 0.06:g} {bottoms[step]:.2f}h.88v{high:.2f}h-.88z")
        if drawn:
            paths.append(f'<path class="{part.colour}" d="{"".join(drawn)}"></path>')
    return "".join(paths)


def _peak(values: Sequence[tuple[str, Sequence[int]]], parts: Sequence[Part]) -> str:
    label, counts = max(values, key=lambda one: sum(one[1]), default=("", ()))
    return f"Most at {described(label, parts, [f'{count:,}' for count in counts])}" if counts else ""


def _times(steps: Steps, most: int) -> str:
    drawn, before = [], None
    for time in ticks.of_times(steps.first, steps.first + steps.seconds * steps.count, most):
        clock, date = ticks.time_label(time, before)
        step = steps.percent(time)
        kind = "tick end" if step > _END else "tick"
        drawn.append(f'<span class="{kind}" style="left:{step:.2f}%">{clock}<br>{date}</span>')
        before = time
    return "".join(drawn)


def _marks(steps: Steps, marks: Sequence[Mark], near: float) -> str:
    drawn = []
    for group in _near(steps, marks, near):
        first, more = min(group, key=marks.index), len(group) - 1
        words = _lines(group)
        drawn.append(f'<a href="#{escape(first.anchor)}" style="left:{steps.percent(first.time):.2f}%" title="{words}">'
                     f'{escape(first.label)}{f"<small>+{more}</small>" if more else ""}</a>')
    return "".join(drawn)


def _events(steps: Steps, events: Sequence[Mark]) -> str:
    drawn = []
    for group in _near(steps, events, _NEAR_EVENTS):
        words = _lines(group)
        drawn.append(f'<span class="event" style="left:{steps.percent(group[0].time):.2f}%" title="{words}"></span>')
    return "".join(drawn)


def _lines(group: Sequence[Mark]) -> str:
    """Return the texts of several marks, one line each, as an attribute."""
    return "&#10;".join(escape(one.words) for one in group)


def _near(steps: Steps, marks: Sequence[Mark], near: float) -> list[list[Mark]]:
    """Return marks by position; marks within `near` percent of the first one are grouped."""
    groups: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda one: one.time):
        if groups and steps.percent(mark.time) - steps.percent(groups[-1][0].time) < near:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups
