"""Manual pages, generated from the verbs' declarations: `applier.1`, and `applier-VERB.1` for each."""

import re
from collections.abc import Iterator

from applier.cli.help.help_pages import COMMON, EXIT_CODES, WHAT, paragraphs_of, sections, usage, verb_groups, verbs
from applier.options.option import Verb
from applier.version import __version__


def manual() -> dict[str, str]:
    """Return all pages by file name."""
    pages = {"applier.1": _page("applier", "exact Parquet snapshots of MySQL's and MariaDB's tables", _overview())}
    for verb in verbs():
        first = paragraphs_of(verb)[0].replace("\n", " ")
        pages[f"applier-{verb.name}.1"] = _page(f"applier-{verb.name}", first.rstrip("."), _verb(verb))
    return pages


def _page(name: str, what: str, lines: Iterator[str]) -> str:
    head = [f'.TH {_roff(name.upper())} 1 "" "applier {__version__}" "applier"', ".SH NAME",
            f"{_roff(name)} \\- {_roff(what)}"]
    return "\n".join([*head, *lines, ""])


def _overview() -> Iterator[str]:
    yield from (".SH SYNOPSIS", ".B applier", "VERB [OPTIONS]", ".SH DESCRIPTION", _roff(WHAT))
    for title, found in verb_groups():
        yield f".SS {_roff(title)}"
        for verb in found:
            yield from (".TP", f".BR applier\\-{_roff(verb.name)} (1)", _roff(verb.summary))
    yield from (".SH OPTIONS", *_everywhere(), *_exit_status())


def _verb(verb: Verb) -> Iterator[str]:
    yield from (".SH SYNOPSIS", f".B applier {_roff(verb.name)}", _roff(" ".join(usage(verb))), ".SH DESCRIPTION")
    for paragraph in paragraphs_of(verb):
        yield ".PP"
        if paragraph.startswith("  "):
            yield from (".nf", *map(_roff, paragraph.splitlines()), ".fi")
        else:
            yield _roff(paragraph.replace("\n", " "))
    yield ".SH OPTIONS"
    for title, options in sections(verb):
        yield f".SS {title}"
        for option in options:
            value = _roff(option.shown_value)
            names = f".BI {_roff(option.flag)} \" {value}\"" if option.flag else f".I {value}"
            yield from (".TP", names, _roff(option.full_help))
    yield from (".SS Everywhere", *_everywhere(), *_exit_status(), ".SH SEE ALSO", ".BR applier (1)")


def _everywhere() -> Iterator[str]:
    for names, text in COMMON.items():
        yield from (".TP", f".B {_roff(names)}", _roff(text))


def _exit_status() -> Iterator[str]:
    yield from (".SH EXIT STATUS", _roff(EXIT_CODES))


def _roff(text: str) -> str:
    """Return text escaped for troff: no character of it is a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return re.sub(r"^(?=[.'])", r"\\&", text)
