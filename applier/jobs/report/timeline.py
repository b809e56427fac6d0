"""Columns over time as inline SVG: one for each step, in one part or several that add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from applier.jobs.report.bars import COLOURS, escape, legend

_LEFT, _WIDTH, _HIGH, _BELOW = 70, 760, 180, 22
_LABELS = 6


def timeline(title: str, steps: Sequence[tuple[str, Sequence[float]]], parts: Sequence[str],
             number: Callable[[float], str] = "{:,.0f}".format) -> str:
    """A chart of `steps` (label, a value for each of `parts`), in their order; some of the labels are below."""
    highest = max((sum(values) for _, values in steps), default=0)
    scale = _HIGH / highest if highest else 0.0
    wide = _WIDTH / max(len(steps), 1)
    lines = [f'<svg viewBox="0 0 {_LEFT + _WIDTH} {_HIGH + _BELOW + 8}" role="img" aria-label="{escape(title)}">',
             f'<text x="{_LEFT - 6}" y="16" text-anchor="end">{escape(number(highest))}</text>',
             f'<text x="{_LEFT - 6}" y="{_HIGH + 6}" text-anchor="end">0</text>',
             f'<line x1="{_LEFT}" y1="{_HIGH + 4}" x2="{_LEFT + _WIDTH}" y2="{_HIGH + 4}" stroke="#bbb"/>']
    every = -(-len(steps) // _LABELS)
    for place, (label, values) in enumerate(steps):
        left, bottom = _LEFT + place * wide, float(_HIGH + 4)
        for part, value, colour in zip(parts, values, COLOURS, strict=False):
            if value:
                high = max(value * scale, 0.5)
                bottom -= high
                what = f"{label}, {part}: {number(value)}" if part else f"{label}: {number(value)}"
                lines.append(f'<rect x="{left:.1f}" y="{bottom:.1f}" width="{max(0.9 * wide, 0.5):.1f}" '
                             f'height="{high:.1f}" fill="{colour}"><title>{escape(what)}</title></rect>')
        if place % every == 0:
            lines.append(f'<text x="{left:.1f}" y="{_HIGH + _BELOW}">{escape(label)}</text>')
    return "\n".join(["<figure>", f"<figcaption>{escape(title)}{legend(parts)}</figcaption>", *lines, "</svg>",
                      "</figure>"])
