"""Writes a page for each verb into docs/commands, out of the verbs' declarations, as `man` has it:
`python docs/write_commands.py`, or `make drawing`."""

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from applier.cli.help.help_pages import COMMON, EXIT_CODES, paragraphs_of, sections, usage, verb_groups, verbs
from applier.options.option import Verb

FOLDER = Path(__file__).with_name("commands")
_HEAD = """# Commands

Every verb of `applier` with all its options, as `applier VERB --help-all` and `man applier-VERB` have them.
"""
_CODE = re.compile(r"((?<![\w-])--[a-z][a-z-]*[a-z]|[\w.=]*[a-z]_[\w.=]*\w)|[*_<\[\]]")
"""In texts for terminals: an option, or a name with underscores; or a character that means something in Markdown."""


def pages() -> dict[str, str]:
    """All pages as they should be, by the names of their files."""
    written = {f"applier-{verb.name}.md": "\n".join([*_verb(verb), ""]) for verb in verbs()}
    return {"README.md": "\n".join([*_overview(), ""])} | written


def _overview() -> Iterator[str]:
    yield _HEAD
    for title, found in verb_groups():
        yield from (f"## {title}", "", "| verb | what it does |", "| --- | --- |")
        for verb in found:
            yield f"| [{verb.name}](applier-{verb.name}.md) | {_line(paragraphs_of(verb)[0])} |"
        yield ""
    yield from ("## Everywhere", "", *(f"- `{names}`: {_escaped(text)}" for names, text in COMMON.items()), "")
    yield from ("## Exit codes", "", f"{_escaped(EXIT_CODES)} [Errors](../ERRORS.md) has them all.")


def _verb(verb: Verb) -> Iterator[str]:
    yield from (f"# applier {verb.name}", "")
    first, *others = paragraphs_of(verb)
    yield from (_escaped(first), "", "```text", f"applier {verb.name} {' '.join(usage(verb))}", "```", "")
    for paragraph in others:
        yield from ((f"```sh\n{_example(paragraph)}\n```" if paragraph.startswith("  ") else _escaped(paragraph)), "")
    for title, options in sections(verb):
        yield from (f"## {title}", "")
        for option in options:
            yield f"- `{f'{option.flag} {option.shown_value}'.strip()}`: {_escaped(option.full_help)}"
        yield ""
    yield f"Besides, [what all verbs take](README.md#everywhere): {', '.join(f'`{names}`' for names in COMMON)}."


def _example(text: str) -> str:
    """Commands as a shell takes them: a line that is indented further continues the previous one."""
    return re.sub(r"\n +", lambda found: " \\\n    ", textwrap.dedent(text))


def _line(text: str) -> str:
    return _escaped(" ".join(text.split())).replace("|", "\\|")


def _escaped(text: str) -> str:
    """Text as Markdown: options and names with underscores as code, and no other character means something."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _CODE.sub(_as_code, part) for part in parts)


def _as_code(found: re.Match[str]) -> str:
    return f"`{found[1]}`" if found[1] else f"\\{found[0]}"


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.md"):
        file.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
