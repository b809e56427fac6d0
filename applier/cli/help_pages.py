"""The texts of --help and --help-all: plain, as wide as the terminal, and never cut.

A first screen has at most 25 lines at 80 columns; what does not fit is named there and told by --help-all. Where --help
is not for a terminal, it is 80 columns wide.
"""

import re
import shutil
import textwrap
from collections.abc import Iterator
from typing import Any

from applier.cli.groups import VERBS, OptionGroup, grouped

LINES = 25
"""Of a first screen."""
_LEAST, _MOST = 60, 120
"""Columns: longer lines are hard to read, and in shorter ones nothing stands beside a name."""
_NAMES = 30
"""Columns of a name with its value; longer ones get a line of their own."""
_ENDS = re.compile(r"[.;:](?= |$)")
COMMON = {
    "-h, --help": "The most used options.",
    "--help-all": "All options, with examples.",
    "-q, --quiet": "No progress and no notes: results and errors only.",
    "-v, --verbose": "A line with the time for each step, and of an error where in the code it came from.",
}
"""The options of all verbs."""


def width() -> int:
    """Columns to write in."""
    return min(max(shutil.get_terminal_size().columns, _LEAST), _MOST)


def usage(verb: Any) -> list[str]:
    """What a verb takes: arguments, options that must be given, and that there are others. An argument that is hidden
    is how such an option was given before."""
    arguments = [param.metavar or param.name.upper() for param in arguments_of(verb)]
    unnamed = [param.metavar for param in verb.params if param.param_type_name == "argument" and param.hidden]
    required = [" ".join(filter(None, names_of(param))) for param in options_of(verb)
                if param.required or param.metavar in unnamed]
    return [*arguments, *required, "[OPTIONS]"]


def verbs(group: Any) -> str:
    """The verbs by what they are for, two side by side."""
    lines = ["Usage: applier VERB [OPTIONS]", "", *textwrap.wrap(group.help, 80)]
    for title, texts in _verb_groups(group).items():
        lines.append(f"{title}:")
        cells = [f"  {name:<9} {text}" for name, text in texts.items()]
        lines += [f"{left:<39}{right}".rstrip() for left, right in zip(cells[::2], [*cells[1::2], ""])]
    return "\n".join([*lines, "applier VERB --help tells what it takes, --help-all all of it.",
                      group.epilog, ""])


def first_screen(verb: Any, columns: int) -> str:
    """What a verb does, and the options that are used most; the others by their names."""
    head = [*_usage(verb, columns), "", *textwrap.wrap(paragraphs_of(verb)[0], columns), ""]
    tail = ["", *textwrap.wrap("--help-all tells of all options, with examples. -q says less, -v more.", columns)]
    room = LINES - len(head) - len(tail)
    groups = groups_of(verb)
    lines = list(_groups(verb, columns, [name for group in groups for name in group.names]))
    told = [name for group in groups for name in group.first]
    while len(lines) > room:
        lines = list(_groups(verb, columns, told))
        if not told:
            break
        told.pop()
    return "\n".join([*head, *lines, *_example(verb, room - len(lines)), *tail, ""])


def whole(verb: Any, columns: int) -> str:
    """All that a verb does and takes."""
    lines = [*_usage(verb, columns), ""]
    for paragraph in paragraphs_of(verb):
        lines += [*(paragraph.splitlines() if paragraph.startswith("  ") else textwrap.wrap(paragraph, columns)), ""]
    for title, entries in sections(verb):
        lines.append(f"{title}:")
        for name, value, text in entries:
            lines += _entry(" ".join(filter(None, (name, value))), text, columns)
        lines.append("")
    lines.append("Everywhere:")
    for names, text in COMMON.items():
        lines += _entry(names, text, columns)
    return "\n".join([*lines, ""])


def sections(verb: Any) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """All that a verb takes, by groups: titles, and of each argument and option the option's name, or "", what a value
    looks like, and the whole text."""
    options = {names_of(param)[0]: param for param in options_of(verb)}
    entries = [("", param.metavar or param.name.upper(), param.help or "") for param in arguments_of(verb)]
    for group in groups_of(verb):
        yield group.title, entries + [(*names_of(options[name]), full_text(options[name])) for name in group.names]
        entries = []


def groups_of(verb: Any) -> list[OptionGroup]:
    """The groups of a verb's options; its arguments are in the first one."""
    return grouped([names_of(param)[0] for param in options_of(verb)], has_arguments=bool(arguments_of(verb)))


def names_of(param: Any) -> tuple[str, str]:
    """An option's name and what its value looks like; further names are those that it had before."""
    long = next(name for name in param.opts if name.startswith("--"))
    choices = param.type_descriptor.choices
    if param.is_flag:
        return long, "/ " + param.secondary_opts[0] if param.secondary_opts else ""
    if param.metavar:
        return long, str(param.metavar)
    return long, "|".join(str(getattr(choice, "value", choice)) for choice in choices) if choices else "N"


def short_text(text: str, columns: int) -> str:
    """The first sentence of a help text; if it does not fit in so many columns, as much of it as does up to a semicolon
    or colon."""
    ends = [match.start() for match in _ENDS.finditer(text) if match[0] != "."]
    stop = next((match.start() for match in _ENDS.finditer(text) if match[0] == "."), len(text))
    fitting = [end for end in ends if end <= columns]
    return text[:stop if stop <= columns or not ends or ends[0] > stop else max(fitting, default=ends[0])]


def _example(verb: Any, room: int) -> list[str]:
    """The first examples, if there is room for them."""
    block = next((["", *paragraph.splitlines()] for paragraph in paragraphs_of(verb) if paragraph.startswith("  ")), [])
    return block if len(block) <= room else []


def _groups(verb: Any, columns: int, told: list[str]) -> Iterator[str]:
    """The groups of a verb's options, with what `told` ones do, and the names of the others."""
    options = {names_of(param)[0]: param for param in options_of(verb)}
    arguments = [(param.metavar or param.name.upper(), param.help or "") for param in arguments_of(verb)]
    for group in groups_of(verb):
        rest = [name for name in group.names if name not in told]
        if len(rest) == len(group.names) and not arguments:
            yield from textwrap.wrap(f"{group.title}: {', '.join(rest)}", columns, subsequent_indent="    ",
                                     break_on_hyphens=False)
            continue
        yield f"{group.title}:"
        yield from _entries(arguments + [(" ".join(filter(None, names_of(options[name]))), options[name].help or "")
                                         for name in group.names if name in told], columns)
        arguments = []
        if rest:
            yield from textwrap.wrap(f"also {', '.join(rest)}", columns, initial_indent="  ", subsequent_indent="    ",
                                     break_on_hyphens=False)


def _entries(entries: list[tuple[str, str]], columns: int) -> Iterator[str]:
    for names, text in entries:
        yield from _entry(names, short_text(text, columns - _NAMES), columns)


def _entry(names: str, text: str, columns: int) -> list[str]:
    """A name and its text beside it, below it where the name is long."""
    lines = textwrap.wrap(text, columns - _NAMES, break_on_hyphens=False, break_long_words=False) or [""]
    if len(names) + 2 > _NAMES - 2:
        return [f"  {names}", *(" " * _NAMES + line for line in lines)]
    return [f"  {names}".ljust(_NAMES) + lines[0], *(" " * _NAMES + line for line in lines[1:])]


def full_text(param: Any) -> str:
    """What an option does, and its default."""
    default = getattr(param.default, "value", param.default)
    return str(param.help) + (f" By default {default}." if default not in (None, False, "", [], ()) else "")


def _usage(verb: Any, columns: int) -> list[str]:
    words = f"Usage: applier {verb.name} "
    return textwrap.wrap(words + " ".join(usage(verb)), columns, subsequent_indent=" " * len(words),
                         break_on_hyphens=False)


def paragraphs_of(verb: Any) -> list[str]:
    """What a verb does; examples are indented, with their lines as they are."""
    return re.split(r"\n\s*\n", verb.help)


def arguments_of(verb: Any) -> list[Any]:
    """The arguments that are shown."""
    return [param for param in verb.params if param.param_type_name == "argument" and not param.hidden]


def options_of(verb: Any) -> list[Any]:
    """The options that are shown."""
    return [param for param in verb.params if param.param_type_name == "option" and not param.hidden]


def _verb_groups(group: Any) -> dict[str, dict[str, str]]:
    known = {name for texts in VERBS.values() for name in texts}
    others = {name: verb.help.partition("\n")[0] for name, verb in group.commands.items() if name not in known}
    groups = {title: {name: text for name, text in texts.items() if name in group.commands}
              for title, texts in VERBS.items()}
    return groups | ({"Others": others} if others else {})
