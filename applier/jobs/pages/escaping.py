"""Text of logs as text of HTML: the one function that every page goes through."""

from __future__ import annotations

import html

from applier.io.printable import printable


def escape(text: str) -> str:
    """Text for HTML, attributes included; unprintable characters are escaped as for a terminal."""
    return html.escape(printable(text))


def cut(text: str, most: int) -> str:
    """A name of so many characters at most, without its middle."""
    left = (most - 1) // 2
    return text if len(text) <= most else f"{text[:left]}…{text[left - most + 1:]}"
