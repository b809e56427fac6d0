"""What the colours of plots mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from applier.jobs.pages.escaping import escape


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
    """What a bar or column says in words: "shop.orders: 2 inserted, 1 deleted"."""
    said = ", ".join(f"{value} {part.name}".strip() for part, value in zip(parts, values, strict=True) if value != "0")
    return f"{label}: {said or 'none'}"


def legend(parts: Sequence[Part]) -> str:
    """What the colours mean; nothing for one part."""
    if len(parts) < 2:
        return ""
    return '<span class="legend">' + "".join(
        f'<span><i class="{part.colour}"></i>{escape(part.name)}</span>' for part in parts) + "</span>"
