"""The texts of --help and --help-all: plain, as wide as the terminal, and never truncated.

A first screen has at most 25 lines at 80 columns; other options are listed there by name and explained by --help-all.
If stdout is not a terminal, --help is 80 columns wide.
"""

import re
import shutil
import textwrap
from collections.abc import Iterator

from applier.options.option import GROUPS, READ, REQUIRED, Option, Verb
from applier.options.verbs import COMMANDS, VERB_GROUPS

LINES = 25
"""The most lines of a first screen."""
_LEAST, _MOST = 60, 120
"""Columns: longer lines are hard to read, and shorter ones have no room beside a name."""
_NAMES = 30
"""Columns of a name with its value; longer names get a separate line."""
_ENDS = re.compile(r"[.;:](?= |$)")
COMMON = {
    "-h, --help": "The most used options.",
    "--help-all": "All options, with examples.",
    "-q, --quiet": "Print only results and errors.",
    "-v, --verbose": "A line with the time for each step, and of an error where in the code it came from.",
}
"""The options of all verbs."""


TEXTS: dict[str, str] = {}
"""The beginning of --help, by verb name."""
WHAT = "Turns binlogs of MySQL or MariaDB into exact Parquet snapshots, at any time."
EXIT_CODES = "0 done; 1 it stopped as a replica would; 2 bad usage or input."


def width() -> int:
    """Return the width to write in, in columns."""
    return min(max(shutil.get_terminal_size().columns, _LEAST), _MOST)


def verbs() -> list[Verb]:
    """Return the verbs, in order."""
    return sorted(COMMANDS, key=lambda verb: VERB_GROUPS.index(verb.group))


def verb_groups() -> Iterator[tuple[str, list[Verb]]]:
    """Yield the verbs by group."""
    for title in VERB_GROUPS:
        yield title, [verb for verb in COMMANDS if verb.group == title]


def usage(verb: Verb) -> list[str]:
    """Return what a verb takes: arguments, required options, and whether there are others. A hidden argument
    is an older way to give a required option."""
    unnamed = [option.shown_value for option in verb.given if option.is_argument and option.hidden]
    required = [_named(option) for option in verb.given if not option.is_argument and not option.hidden
                and (option.on_command_line is REQUIRED or option.shown_value in unnamed)]
    return [*(option.shown_value for option in verb.arguments), *required, "[OPTIONS]"]


def overview() -> str:
    """Return the verbs by group, two side by side."""
    lines = ["Usage: applier VERB [OPTIONS]", "", *textwrap.wrap(WHAT, 80)]
    for title, found in verb_groups():
        lines.append(f"{title}:")
        cells = [f"  {verb.name:<9} {verb.summary}" for verb in found]
        lines += [f"{left:<39}{right}".rstrip() for left, right in zip(cells[::2], [*cells[1::2], ""])]
    return "\n".join([*lines, "applier VERB --help tells what it takes, --help-all all of it.",
                      f"Exit codes: {EXIT_CODES}", ""])


def first_screen(verb: Verb, columns: int) -> str:
    """Return what a verb does, its most important options, and the names of the others."""
    head = [*_usage(verb, columns), "", *textwrap.wrap(paragraphs_of(verb)[0], columns), ""]
    tail = ["", *textwrap.wrap("--help-all tells of all options, with examples. -q says less, -v more.", columns)]
    room = LINES - len(head) - len(tail)
    lines = list(_groups(verb, columns, verb.shown))
    told = [option for option in verb.shown if option.first]
    while len(lines) > room:
        lines = list(_groups(verb, columns, told))
        if not told:
            break
        told.pop()
    return "\n".join([*head, *lines, *_example(verb, room - len(lines)), *tail, ""])


def whole(verb: Verb, columns: int) -> str:
    """Return the complete description of a verb and its options."""
    lines = [*_usage(verb, columns), ""]
    for paragraph in paragraphs_of(verb):
        lines += [*(paragraph.splitlines() if paragraph.startswith("  ") else textwrap.wrap(paragraph, columns)), ""]
    for title, options in sections(verb):
        lines.append(f"{title}:")
        for option in options:
            lines += _entry(_named(option), option.full_help, columns)
        lines.append("")
    lines.append("Everywhere:")
    for names, text in COMMON.items():
        lines += _entry(names, text, columns)
    return "\n".join([*lines, ""])


def sections(verb: Verb) -> Iterator[tuple[str, list[Option]]]:
    """Yield everything that a verb takes, by group. Arguments are in the group of what to read."""
    for title in GROUPS:
        options = [option for option in verb.shown if option.group == title]
        if options := [*(verb.arguments if title == READ else ()), *options]:
            yield title, options


def short_text(text: str, columns: int) -> str:
    """Return the first sentence of a help text; if it does not fit in `columns`, its beginning up to a semicolon
    or colon that does."""
    ends = [match.start() for match in _ENDS.finditer(text) if match[0] != "."]
    stop = next((match.start() for match in _ENDS.finditer(text) if match[0] == "."), len(text))
    fitting = [end for end in ends if end <= columns]
    return text[:stop if stop <= columns or not ends or ends[0] > stop else max(fitting, default=ends[0])]


def _named(option: Option) -> str:
    """Return an option's name and the placeholder of its value."""
    return f"{option.flag} {option.shown_value}".strip()


def _example(verb: Verb, room: int) -> list[str]:
    """Return the first examples, if there is room for them."""
    block = next((["", *paragraph.splitlines()] for paragraph in paragraphs_of(verb) if paragraph.startswith("  ")), [])
    return block if len(block) <= room else []


def _groups(verb: Verb, columns: int, told: list[Option]) -> Iterator[str]:
    """Yield the groups of a verb's options, with descriptions of those in `told`, and the names of the others."""
    for title, options in sections(verb):
        rest = [option.flag for option in options if option not in told and not option.is_argument]
        if len(rest) == len(options):
            yield from textwrap.wrap(f"{title}: {', '.join(rest)}", columns, subsequent_indent="    ",
                                     break_on_hyphens=False)
            continue
        yield f"{title}:"
        for option in options:
            if option in told or option.is_argument:
                yield from _entry(_named(option), short_text(option.help, columns - _NAMES), columns)
        if rest:
            yield from textwrap.wrap(f"also {', '.join(rest)}", columns, initial_indent="  ", subsequent_indent="    ",
                                     break_on_hyphens=False)


def _entry(names: str, text: str, columns: int) -> list[str]:
    """Return a name with its text beside it, or below it if the name is long."""
    lines = textwrap.wrap(text, columns - _NAMES, break_on_hyphens=False, break_long_words=False) or [""]
    if len(names) + 2 > _NAMES - 2:
        return [f"  {names}", *(" " * _NAMES + line for line in lines)]
    return [f"  {names}".ljust(_NAMES) + lines[0], *(" " * _NAMES + line for line in lines[1:])]


def _usage(verb: Verb, columns: int) -> list[str]:
    words = f"Usage: applier {verb.name} "
    return textwrap.wrap(words + " ".join(usage(verb)), columns, subsequent_indent=" " * len(words),
                         break_on_hyphens=False)


def paragraphs_of(verb: Verb) -> list[str]:
    """Return the description of a verb; examples are indented and keep their lines."""
    return re.split(r"\n\s*\n", TEXTS[verb.name])
