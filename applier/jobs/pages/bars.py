"""Horizontal bars: one for each of several things, in one part or several that add up, with the numbers beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from applier.jobs.pages.escaping import cut, escape
from applier.jobs.pages.parts import Part, described, legend

_LABEL = 40
"""Characters."""


def bars(title: str, rows: Sequence[tuple[str, Sequence[float]]], parts: Sequence[Part],
         number: Callable[[float], str] = "{:,.0f}".format) -> str:
    """A chart of `rows` (label, a value for each of `parts`). Bars are drawn to one scale; `number` writes values."""
    longest = max((sum(values) for _, values in rows), default=0)
    items = "\n".join(f'<li><span class="label" title="{escape(label)}">{escape(cut(label, _LABEL))}</span>'
                      f"{bar(label, values, parts, longest, number)}"
                      f'<span class="value">{escape(number(sum(values)))}</span></li>' for label, values in rows)
    return (f'<figure>\n<figcaption>{escape(title)}{legend(parts)}</figcaption>\n<ul class="bars">\n{items}\n</ul>\n'
            "</figure>")


def bar(label: str, values: Sequence[float], parts: Sequence[Part], longest: float,
        number: Callable[[float], str] = "{:,.0f}".format) -> str:
    """One bar; one of `longest` in all takes the whole width."""
    said = described(label, parts, [number(value) if value else "0" for value in values])
    rects, left, scale = [], 0.0, 100 / longest if longest else 0.0
    for part, value in zip(parts, values, strict=True):
        if value:
            rects.append(f'<rect class="{part.colour}" x="{left:.3f}%" width="{max(value * scale, 0.2):.3f}%" '
                         f'height="100%"></rect>')
        left += value * scale
    return f'<svg class="bar" role="img"><title>{escape(said)}</title>{"".join(rects)}</svg>'
