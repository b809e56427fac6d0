"""Commands in the docs: which there are on a page, and how one is run as a reader would run it.

Commands behind `$` in a ```console block run, in the order of the page and in a folder of its own, and print what
stands below them. One that ends in `&` runs until the page ends, and is waited for until it has printed that; then it
gets SIGTERM. ```pycon blocks run as doctests. In every other block, and in the text, commands are parsed only.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from applier import cli
from tests.support.folders import ROOT

PAGES = sorted([ROOT / "README.md", ROOT / "examples" / "README.md", *(ROOT / "docs").rglob("*.md")])
_FENCED = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?:^(?: {4}.*)\n)+", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")
_OTHER_LANGUAGES = {"text", "pycon", "python", "sql", "json", "mermaid"}
_LEFT_OUT = {"…", "..."}
_PATH = f'PATH="{Path(sys.executable).parent}:$PATH"'
_PATIENCE = 60.0
"""Seconds that a command in the background may take for what the page shows; it takes few."""
_WORD = re.compile(r"""#.*|[();<>|&]+|(?:[^\s"'();<>|&\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""")


@dataclass(frozen=True)
class Shown:
    """A command of a page, the lines that stand below it, and the exit code: 0, if no `echo $?` follows. Lines are
    parts of the output, in this order; `…` stands for omitted parts."""

    command: str
    lines: list[str]
    exit_code: int = 0


def runnable(page: Path) -> Iterator[list[Shown] | str]:
    """The parts of a page that run, in order: the commands of a console, or the text of a doctest."""
    for _, kind, text in _FENCED.findall(page.read_text()):
        if kind == "pycon":
            yield text
        elif kind == "console":
            parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
            yield list(_shown([part.replace("\\\n", " ").splitlines() for part in parts]))


def _shown(parts: list[list[str]]) -> Iterator[Shown]:
    for (command, *lines), after in zip(parts, [*parts[1:], [""]], strict=True):
        if command != "echo $?":
            yield Shown(command, lines, int(after[1]) if after[0] == "echo $?" else 0)


def command_lines(page: Path, verbs: set[str]) -> Iterator[list[str]]:
    """The words of each command line of `applier` in a page's blocks, from the verb on."""
    text = page.read_text()
    blocks = [block for _, kind, block in _FENCED.findall(text) if kind not in _OTHER_LANGUAGES]
    blocks += _INDENTED.findall(_FENCED.sub("", text))
    named = re.compile(rf"\bapplier (?:{'|'.join(verbs)})\b")
    for block in blocks:
        for line in block.replace("\\\n", " ").splitlines():
            if named.search(line):
                yield from _commands(line, verbs)


def _commands(line: str, verbs: set[str]) -> Iterator[list[str]]:
    """Split at what the shell splits at; of each part, what follows `applier`."""
    command: list[str] | None = None
    words = [match[0] for match in _WORD.finditer(line)]
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if command is None and word.rpartition("/")[2] == "applier" and after in verbs:
            command = []
        elif command is not None and _is_operator(word):
            yield command
            command = None
        elif command is not None and word not in _LEFT_OUT:
            command += shlex.split(word, comments=True)
    if command is not None:
        yield command


def _is_operator(word: str) -> bool:
    return set(word) <= set("();<>|&")


def named_options(page: Path, verbs: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Verbs that a page's text names as `applier VERB …`, with their options."""
    for code in _INLINE.findall(_FENCED.sub("", page.read_text())):
        if (found := re.match(r"applier (\S+)(.*)", code)) and found[1] in verbs:
            yield found[1], re.findall(r"(?<!\S)(--[a-z-]+)", found[2])


def targets(page: Path) -> set[str]:
    """The targets of `make` that a page names."""
    return set(re.findall(r"(?:^ {4}|`|^\$ )make ([a-z-]+)", page.read_text(), re.MULTILINE))


def run(shown: Shown, beside: contextlib.ExitStack) -> None:
    """Run a command, and find its lines in the output. Background processes end with `beside`."""
    if shown.command.endswith("&"):
        beside.enter_context(_in_the_background(shown))
        return
    code, printed = _run(shown.command)
    assert code == shown.exit_code, f"$ {shown.command}\n{printed}"
    missing = _missing(shown, printed)
    assert missing is None, f"$ {shown.command}\nprints no (further) {missing!r}, but\n{printed}"


def _missing(shown: Shown, printed: str) -> str | None:
    """The first part of the lines that is not printed after those before it."""
    rest = _plain(printed)
    for part in (_plain(part) for line in shown.lines for part in line.split("…")):
        if part not in rest:
            return part
        rest = rest[rest.index(part) + len(part):]
    return None


@contextlib.contextmanager
def _in_the_background(shown: Shown) -> Iterator[None]:
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(["bash", "-c", f"{_PATH}; exec {shown.command[:-1]}"], stdout=out,
                                   stderr=subprocess.STDOUT)

        def printed() -> str:
            return os.pread(out.fileno(), 1 << 20, 0).decode()

        try:
            until = time.monotonic() + _PATIENCE
            while _missing(shown, printed()) is not None:
                assert process.poll() is None and time.monotonic() < until, f"$ {shown.command}\n{printed()}"
                time.sleep(0.05)
            yield
            assert process.poll() is None, f"$ {shown.command}\n{printed()}"
        finally:
            process.terminate()
            code = process.wait()
        assert code == shown.exit_code, f"$ {shown.command}\n{printed()}"


def _plain(text: str) -> str:
    """With single spaces, and without the bars and lines of tables."""
    return " ".join(re.sub(r"[─-▏]", " ", text).split())


def _run(command: str) -> tuple[int, str]:
    """Return the exit code and the output. `applier` runs in this process, the rest of a pipe in a shell."""
    words = list(_WORD.finditer(command))
    end = next((word for word in words if _is_operator(word[0])), None)
    if words[0][0] != "applier" or (end and end[0] not in ("|", ">")):
        return _in_shell(command, b"")
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) if end else out
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(shlex.split(command[:end.start()] if end else command)[1:])
    printed = out.buffer.getvalue()
    if not end or code:
        return code, (printed if err is out else printed + err.buffer.getvalue()).decode()
    return _in_shell(command[end.end():] if end[0] == "|" else f"cat {command[end.start():]}", printed)


def _in_shell(command: str, given: bytes) -> tuple[int, str]:
    done = subprocess.run(["bash", "-c", f"{_PATH}; {command}"], input=given,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode()


def run_doctest(text: str, name: str, known: dict[str, Any]) -> None:
    """Run the examples of a block; names continue to the next one."""
    test = doctest.DocTestParser().get_doctest(text, known, name, None, None)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    told = io.StringIO()
    failed = runner.run(test, out=told.write, clear_globs=False).failed
    known.update(test.globs)
    assert not failed, told.getvalue()
