"""A plot of lines over logarithmic axes, as SVG: what a page of the docs shows of a table of figures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 180, 56, 48
_COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed")
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #333 } .title { font-weight: 600 }
.grid { stroke: #ddd } @media (prefers-color-scheme: dark) { text { fill: #ddd } .grid { stroke: #444 } }"""


@dataclass(frozen=True)
class Line:
    """One line: what it is of, and its points (x, y), all above 0."""

    name: str
    points: Sequence[tuple[float, float]]


def plot(title: str, x_label: str, y_label: str, lines: Sequence[Line]) -> str:
    """The SVG's text; each decade of the axes has a line of the grid."""
    across = _Axis([x for line in lines for x, _ in line.points], _LEFT, _WIDTH - _RIGHT)
    up = _Axis([y for line in lines for _, y in line.points], _HEIGHT - _BOTTOM, _TOP)
    drawn = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
             f'aria-label="{escape(title)}">', f"<style>{_STYLE}</style>",
             _text(_LEFT, 20, title, 'class="title"'),
             _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, x_label, 'text-anchor="middle"'),
             _text(8, _TOP - 14, y_label)]
    for value in across.decades:
        at = across.place(value)
        drawn += [f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>',
                  _text(at, _HEIGHT - _BOTTOM + 18, f"{value:,.10g}", 'text-anchor="middle"')]
    for value in up.decades:
        at = up.place(value)
        drawn += [f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>',
                  _text(_LEFT - 8, at + 4, f"{value:,.10g}", 'text-anchor="end"')]
    names = _spread([up.place(line.points[-1][1]) for line in lines])
    for line, colour, name_at in zip(lines, _COLOURS, names, strict=False):
        places = [(across.place(x), up.place(y)) for x, y in line.points]
        drawn.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
                     + " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>')
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        drawn.append(_text(_WIDTH - _RIGHT + 10, name_at + 4, line.name, f'style="fill: {colour}"'))
    return "\n".join([*drawn, "</svg>", ""])


class _Axis:
    """A logarithmic axis over whole decades, from one coordinate to another."""

    def __init__(self, values: Sequence[float], begin: float, end: float) -> None:
        self._low = math.floor(math.log10(min(values)) + 1e-9)
        self._high = max(math.ceil(math.log10(max(values)) - 1e-9), self._low + 1)
        self._begin, self._end = begin, end

    @property
    def decades(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]

    def place(self, value: float) -> float:
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return self._begin + share * (self._end - self._begin)


def _spread(places: Sequence[float]) -> list[float]:
    """The places of the lines' names: at their lines' ends, but never over each other."""
    spread, free = [0.0] * len(places), -math.inf
    for number in sorted(range(len(places)), key=places.__getitem__):
        spread[number] = max(places[number], free)
        free = spread[number] + 16
    return spread


def _text(x: float, y: float, text: str, attributes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escape(text)}</text>'
