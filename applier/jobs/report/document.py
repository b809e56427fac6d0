"""A page for people as one HTML file, which needs neither a network nor scripts: its frame, facts, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.jobs.report.bars import escape

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff; max-width: 62rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid #ddd; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; } dt { color: #666; }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; font-size: .9rem; } th, td { padding: .2rem .7rem .2rem 0; text-align: left;
        vertical-align: top; border-bottom: 1px solid #eee; } td.n, th.n { text-align: right;
        font-variant-numeric: tabular-nums; } .scroll { overflow-x: auto; }
figure { margin: 1rem 0; } figcaption { font-weight: 600; } svg { width: 100%; font-size: 13px; }
.part { font-weight: 400; margin-left: 1rem; } .part i { display: inline-block; width: .8em; height: .8em;
        margin-right: .35em; } .warning { background: #fff4dc; padding: .4rem .8rem; margin: .3rem 0; }
code { font-size: .92em; overflow-wrap: anywhere; }
"""


def document(title: str, sections: Iterable[str]) -> str:
    """The whole page; empty sections are left out."""
    return "\n".join(["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
                      '<meta name="viewport" content="width=device-width, initial-scale=1">',
                      f"<title>{escape(title)}</title>", f"<style>{_STYLE}</style>", "</head>", "<body>",
                      f"<h1>{escape(title)}</h1>", *(part for part in sections if part), "</body>", "</html>", ""])


def facts_list(facts: Iterable[tuple[str, str]]) -> str:
    """Names and values, a line each."""
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts) + "</dl>"


def warnings(lines: Iterable[str]) -> str:
    """Lines that stand out."""
    return "\n".join(f'<p class="warning">{escape(line)}</p>' for line in lines)


def grid(names: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    """A table; columns of numbers are right-aligned."""
    rows = list(rows)
    numeric = [bool(rows) and isinstance(rows[0][place], int) for place in range(len(names))]
    kinds = [' class="n"' if is_number else "" for is_number in numeric]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for name, kind in zip(names, kinds, strict=True))
    body = "\n".join("<tr>" + "".join(
        f"<td{kind}>{escape(f'{cell:,}' if isinstance(cell, int) else cell)}</td>"
        for cell, kind in zip(row, kinds, strict=True)) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
