"""An HTML page as one file, which needs neither a network nor scripts: its frame, cards, tiles, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.jobs.pages.parts import escape
from applier.jobs.pages.style import STYLE

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""A policy that tells browsers that the page needs nothing else."""
Cell = str | int | float


def document(kind: str, title: str, lead: str, sections: Iterable[str], made_by: str) -> str:
    """Return the whole page: its `kind`, its title, a line below that, its cards. Empty sections are left out."""
    return "\n".join(["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
                      f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
                      '<meta name="viewport" content="width=device-width, initial-scale=1">',
                      f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", "</head>", "<body>",
                      f'<header><p class="kind">{escape(kind)}</p><h1>{escape(title)}</h1>'
                      f'<p class="lead">{escape(lead)}</p></header>', "<main>",
                      *(part for part in sections if part), "</main>",
                      f"<footer>{escape(made_by)}</footer>", "</body>", "</html>", ""])


def card(title: str, *parts: str, is_half: bool = False) -> str:
    """Return a part of the page with a title; empty parts are left out. Half ones stand side by side where there is
    room."""
    kind = ' class="half"' if is_half else ""
    return "\n".join([f"<section{kind}>", f"<h2>{escape(title)}</h2>", *(part for part in parts if part), "</section>"])


def tiles(facts: Iterable[tuple[str, str, str]]) -> str:
    """Return the most important numbers: the name of each, its text, and the colour ("" for none) that plots give
    it."""
    return '<dl class="tiles">' + "".join(
        f"<div><dt>{_dot(colour)}{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value, colour in facts
    ) + "</dl>"


def _dot(colour: str) -> str:
    return f'<i class="{colour}"></i>' if colour else ""


def facts_list(facts: Iterable[tuple[str, str]]) -> str:
    """Return names and values, one line each."""
    return '<dl class="facts">' + "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts) + "</dl>"


def warnings(lines: Iterable[str]) -> str:
    """Return lines that stand out."""
    shown = "\n".join(f"<p>{escape(line)}</p>" for line in lines)
    return f'<div class="warnings" role="note">{shown}</div>' if shown else ""


def statement(text: str) -> str:
    """Return SQL, as the log has it."""
    return f'<code class="statement">{escape(text)}</code>' if text else ""


def grid(title: str, names: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return a table with all of these rows, which scrolls in its area; columns of numbers are right-aligned."""
    rows = list(rows)
    numeric = [all(not isinstance(row[number], str) for row in rows) for number in range(len(names))]
    kinds = [' class="n"' if is_number else "" for is_number in numeric]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(names, kinds, strict=True))
    body = "\n".join("<tr>" + "".join(
        f"<td{kind}>{escape(_cell(cell))}</td>"
        for cell, kind in zip(row, kinds, strict=True)) + "</tr>" for row in rows)
    return (f'<div class="scroll" role="region" aria-label="{escape(title)}" tabindex="0"><table><thead><tr>{head}</tr>'
            f"</thead>\n<tbody>\n{body}\n</tbody></table></div>")


def _cell(cell: Cell) -> str:
    match cell:
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:,.2f}"
    return cell
