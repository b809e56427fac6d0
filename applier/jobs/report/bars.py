"""Horizontal bars as inline SVG: one for each row, in one part or several that add up, with the numbers beside them."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

from applier.io.printable import printable

COLOURS = ("#2f6db3", "#d9822b", "#8a5aa8", "#4f9d69", "#b8405e")
"""Colours of the parts of a bar, distinct also without colour vision; a chart has at most this many parts."""

_LABEL, _BAR, _NUMBER, _ROW, _HIGH = 230, 470, 130, 26, 16


def escape(text: str) -> str:
    """Text for HTML, attributes included; unprintable characters are escaped as for a terminal."""
    return html.escape(printable(text))


def bars(title: str, rows: Sequence[tuple[str, Sequence[float]]], parts: Sequence[str],
         number: Callable[[float], str] = "{:,.0f}".format) -> str:
    """A chart of `rows` (label, a value for each of `parts`). Bars are drawn to one scale; `number` writes values."""
    longest = max((sum(values) for _, values in rows), default=0)
    scale = _BAR / longest if longest else 0.0
    height = _ROW * len(rows) + 4
    lines = [f'<svg viewBox="0 0 {_LABEL + _BAR + _NUMBER} {height}" role="img" aria-label="{escape(title)}">']
    for place, (label, values) in enumerate(rows):
        lines += _row(place * _ROW + 4, label, values, parts, scale, number)
    return "\n".join(["<figure>", f"<figcaption>{escape(title)}{legend(parts)}</figcaption>", *lines, "</svg>",
                      "</figure>"])


def _row(top: int, label: str, values: Sequence[float], parts: Sequence[str], scale: float,
         number: Callable[[float], str]) -> list[str]:
    middle = top + _HIGH - 4
    short = label if len(label) <= 34 else f"{label[:16]}…{label[-17:]}"
    lines = [f'<text x="{_LABEL - 8}" y="{middle}" text-anchor="end">{escape(short)}'
             f"<title>{escape(label)}</title></text>"]
    left = float(_LABEL)
    for part, value, colour in zip(parts, values, COLOURS, strict=False):
        width = value * scale
        if value:
            what = f"{label}, {part}: {number(value)}" if part else f"{label}: {number(value)}"
            lines.append(f'<rect x="{left:.1f}" y="{top}" width="{max(width, 0.5):.1f}" height="{_HIGH}" '
                         f'fill="{colour}"><title>{escape(what)}</title></rect>')
        left += width
    lines.append(f'<text x="{left + 6:.1f}" y="{middle}">{escape(number(sum(values)))}</text>')
    return lines


def legend(parts: Sequence[str]) -> str:
    """What the colours of the parts mean; nothing for one part."""
    if len(parts) < 2:
        return ""
    return "".join(f' <span class="part"><i style="background:{colour}"></i>{escape(part)}</span>'
                   for part, colour in zip(parts, COLOURS, strict=False))
