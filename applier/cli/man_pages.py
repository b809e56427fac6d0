"""Manual pages out of the verbs' declarations: `applier.1`, and `applier-VERB.1` for each."""

import re
from collections.abc import Iterator
from typing import Any

from applier import __version__
from applier.cli.groups import VERBS
from applier.cli.help_pages import COMMON, paragraphs_of, sections, usage


def manual(group: Any) -> dict[str, str]:
    """All pages, by the names of their files."""
    pages = {"applier.1": _page("applier", "exact Parquet snapshots of MySQL's and MariaDB's tables", _overview(group))}
    for name, verb in group.commands.items():
        first = paragraphs_of(verb)[0].replace("\n", " ")
        pages[f"applier-{name}.1"] = _page(f"applier-{name}", first.rstrip("."), _verb(name, verb, group.epilog))
    return pages


def _page(name: str, what: str, lines: Iterator[str]) -> str:
    head = [f'.TH {_roff(name.upper())} 1 "" "applier {__version__}" "applier"', ".SH NAME",
            f"{_roff(name)} \\- {_roff(what)}"]
    return "\n".join([*head, *lines, ""])


def _overview(group: Any) -> Iterator[str]:
    yield from (".SH SYNOPSIS", ".B applier", "VERB [OPTIONS]", ".SH DESCRIPTION", _roff(group.help))
    for title, verbs in VERBS.items():
        yield f".SS {_roff(title)}"
        for name, text in verbs.items():
            yield from (".TP", f".BR applier\\-{_roff(name)} (1)", _roff(text))
    yield from (".SH OPTIONS", *_everywhere(), *_exit_status(group.epilog))


def _verb(name: str, verb: Any, exit_codes: str) -> Iterator[str]:
    yield from (".SH SYNOPSIS", f".B applier {_roff(name)}", _roff(" ".join(usage(verb))), ".SH DESCRIPTION")
    for paragraph in paragraphs_of(verb):
        yield ".PP"
        if paragraph.startswith("  "):
            yield from (".nf", *map(_roff, paragraph.splitlines()), ".fi")
        else:
            yield _roff(paragraph.replace("\n", " "))
    yield ".SH OPTIONS"
    for title, entries in sections(verb):
        yield f".SS {title}"
        for option, value, text in entries:
            names = f".BI {_roff(option)} \" {_roff(value)}\"" if option else f".I {_roff(value)}"
            yield from (".TP", names, _roff(text))
    yield from (".SS Everywhere", *_everywhere(), *_exit_status(exit_codes), ".SH SEE ALSO", ".BR applier (1)")


def _everywhere() -> Iterator[str]:
    for names, text in COMMON.items():
        yield from (".TP", f".B {_roff(names)}", _roff(text))


def _exit_status(text: str) -> Iterator[str]:
    yield from (".SH EXIT STATUS", _roff(text.partition(": ")[2]))


def _roff(text: str) -> str:
    """Text as troff reads it: no character of it is a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return re.sub(r"^(?=[.'])", r"\\&", text)
