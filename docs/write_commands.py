"""Writes a page for each verb into docs/commands, out of the verbs' declarations, as `man` has it:
`python docs/write_commands.py`, or `make drawing`."""

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from applier.cli.application import app
from applier.cli.groups import VERBS
from applier.cli.help_pages import COMMON, paragraphs_of, sections, usage

FOLDER = Path(__file__).with_name("commands")
_HEAD = """# Commands

Every verb of `applier` with all its options, as `applier VERB --help-all` and `man applier-VERB` have them.
"""
_CODE = re.compile(r"((?<![\w-])--[a-z][a-z-]*[a-z]|[\w.=]*[a-z]_[\w.=]*\w)|[*_<\[\]]")
"""In texts for terminals: an option, or a name with underscores; or a character that means something in Markdown."""


def pages() -> dict[str, str]:
    """All pages as they should be, by the names of their files."""
    group: Any = typer.main.get_command(app)
    written = {f"applier-{name}.md": "\n".join([*_verb(name, verb), ""]) for name, verb in group.commands.items()}
    return {"README.md": "\n".join([*_overview(group), ""])} | written


def _overview(group: Any) -> Iterator[str]:
    yield _HEAD
    for title, verbs in VERBS.items():
        yield from (f"## {title}", "", "| verb | what it does |", "| --- | --- |")
        for name in verbs:
            yield f"| [{name}](applier-{name}.md) | {_line(paragraphs_of(group.commands[name])[0])} |"
        yield ""
    yield from ("## Everywhere", "", *(f"- `{names}`: {_escaped(text)}" for names, text in COMMON.items()), "")
    codes = _escaped(group.epilog.partition(": ")[2])
    yield from ("## Exit codes", "", f"{codes} [Errors](../ERRORS.md) has them all.")


def _verb(name: str, verb: Any) -> Iterator[str]:
    yield from (f"# applier {name}", "")
    first, *others = paragraphs_of(verb)
    yield from (_escaped(first), "", "```text", f"applier {name} {' '.join(usage(verb))}", "```", "")
    for paragraph in others:
        yield from ((f"```sh\n{_example(paragraph)}\n```" if paragraph.startswith("  ") else _escaped(paragraph)), "")
    for title, entries in sections(verb):
        yield from (f"## {title}", "")
        for option, value, text in entries:
            yield f"- `{' '.join(filter(None, (option, value)))}`: {_escaped(text)}"
        yield ""
    yield f"Besides, [what all verbs take](README.md#everywhere): {', '.join(f'`{names}`' for names in COMMON)}."


def _example(text: str) -> str:
    """Commands as a shell takes them: a line that is indented further goes on with the one before."""
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
