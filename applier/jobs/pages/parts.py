"""Parts of pages: escaped text, the legend of a plot, and horizontal bars with their numbers beside them.

All text from logs goes through the one function that escapes it."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from applier.io.printable import printable


def escape(text: str) -> str:
    """Return text for HTML, attributes included; unprintable characters are escaped as for a terminal."""
    return html.escape(printable(text))


def cut(text: str, most: int) -> str:
    """Return a name of at most `most` characters, shortened in its middle."""
    left = (most - 1) // 2
    return text if len(text) <= most else f"{text[:left]}…{text[left - most + 1:]}"


@dataclass(frozen=True)
class Part:
    """A part of bars or columns: its name, and the colour that the style has for it."""

    name: str
    colour: str


KINDS = Part("inserted", "inserted"), Part("updated", "updated"), Part("deleted", "deleted")
"""Of row changes."""
ONE = (Part("", "one"),)
"""Where there is nothing to tell apart."""


def described(label: str, parts: Sequence[Part], values: Sequence[str]) -> str:
    """Return the text of a bar or column: "shop.orders: 2 inserted, 1 deleted"."""
    said = ", ".join(f"{value} {part.name}".strip() for part, value in zip(parts, values, strict=True) if value != "0")
    return f"{label}: {said or 'none'}"


def legend(parts: Sequence[Part]) -> str:
    """Return the meanings of the colours; nothing for one part."""
    if len(parts) < 2:
        return ""
    return '<span class="legend">' + "".join(
        f'<span><i class="{part.colour}"></i>{escape(part.name)}</span>' for part in parts) + "</span>"


_LABEL = 40
"""Characters."""


def bars(title: str, rows: Sequence[tuple[str, Sequence[float]]], parts: Sequence[Part],
         number: Callable[[float], str] = "{:,.0f}".format) -> str:
    """Return a chart of `rows` (label, a value for each of `parts`). Bars are drawn to one scale; `number` writes
    values."""
    longest = max((sum(values) for _, values in rows), default=0)
    items = "\n".join(f'<li><span class="label" title="{escape(label)}">{escape(cut(label, _LABEL))}</span>'
                      f"{bar(label, values, parts, longest, number)}"
                      f'<span class="value">{escape(number(sum(values)))}</span></li>' for label, values in rows)
    return (f'<figure>\n<figcaption>{escape(title)}{legend(parts)}</figcaption>\n<ul class="bars">\n{items}\n</ul>\n'
            "</figure>")


def bar(label: str, values: Sequence[float], parts: Sequence[Part], longest: float,
        number: Callable[[float], str] = "{:,.0f}".format) -> str:
    """Return a bar; a bar of `longest` in all takes the whole width."""
    said = described(label, parts, [number(value) if value else "0" for value in values])
    rects, left, scale = [], 0.0, 100 / longest if longest else 0.0
    for part, value in zip(parts, values, strict=True):
        if value:
            rects.append(f'<rect class="{part.colour}" x="{left:.3f}%" width="{max(value * scale, 0.2):.3f}%" '
                         f'height="100%"></rect>')
        left += value * scale
    return f'<svg class="bar" role="img"><title>{escape(said)}</title>{"".join(rects)}</svg>'
