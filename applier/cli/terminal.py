"""Terminal output: progress of long jobs and errors on stderr, results on stdout.

Everything printed with rich goes through `words` or `assembled`, since names from a log may contain anything.
"""

import sys
import time
import traceback
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn, TextIO, cast

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from applier.cli.loudness import Loudness, chosen
from applier.errors import ApplierError
from applier.io.printable import printable
from applier.io.progress import Silent

LOG_EVERY_SECONDS = 10.0


def words(text: str, style: str = "", keep: str = "") -> Text:
    """Return text for a console: printable, and never markup. `keep` is as in `printable`."""
    return Text(printable(text, keep), style=style)


def assembled(*parts: str | tuple[str, str]) -> Text:
    """Return texts side by side; a pair is a text and its style."""
    return Text.assemble(*(words(part) if isinstance(part, str) else words(*part) for part in parts))


class ResultConsole(Console):
    """A console on stdout. If its reader is gone, as with `head`, printing raises BrokenPipeError, as plain writes do;
    rich itself would end the program with exit code 1. In a pipe or a file, lines have no trailing blanks."""

    def __init__(self, **options: Any) -> None:
        on_terminal = sys.stdout.isatty()
        options.setdefault("file", sys.stdout if on_terminal else cast("TextIO", _Unpadded(sys.stdout)))
        super().__init__(highlight=False, force_terminal=on_terminal, **options)

    def say(self, *parts: str | tuple[str, str], soft_wrap: bool = False) -> None:
        """Print texts side by side, as `assembled` takes them."""
        self.print(assembled(*parts), soft_wrap=soft_wrap)

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


class _Unpadded:
    """A text stream that removes trailing blanks from lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write("\n".join(line.rstrip(" ") for line in text.split("\n")))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Unwatched:
    """A text stream that no job depends on: text that cannot be written, because the reader is gone or the disk is
    full, is lost."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class TerminalProgress:
    """Progress bars on a terminal: one per phase, with rows per second and the time left. A context manager."""

    def __init__(self, console: Console) -> None:
        self._bars = Progress(
            TextColumn("{task.description:<9}", markup=False), BarColumn(), _Count(), _RowsPerSecond(),
            TimeRemainingColumn(compact=True),
            console=console,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> "TerminalProgress":
        self._bars.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self._finish_phase()
        self._bars.stop()

    def phase(self, name: str, total: int, what: str) -> None:
        self._finish_phase()
        self._task = self._bars.add_task(name, total=None, of=total or None, what=_items(total, what), rows=0)

    def update(self, done: int, rows: int = 0) -> None:
        if self._task is not None:
            known = {"total": self._fields()["of"]} if done else {}  # the progress is unknown before
            self._bars.update(self._task, completed=done, rows=rows, **known)

    def note(self, text: str) -> None:
        self._bars.console.print(words(text, "yellow"))

    def _finish_phase(self) -> None:
        if self._task is None:
            return
        task = next(task for task in self._bars.tasks if task.id == self._task)
        total = self._fields()["of"] or task.completed
        self._bars.update(self._task, total=total, completed=total)
        self._bars.stop_task(self._task)

    def _fields(self) -> dict[str, Any]:
        return next(task.fields for task in self._bars.tasks if task.id == self._task)


class LogProgress:
    """Log lines if stderr is not a terminal: a phase's start and end, and its state every ten seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._name, self._total, self._what = "", 0, ""
        self._done = self._rows = 0
        self._began = self._last_line = 0.0

    def __enter__(self) -> "LogProgress":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self._finish_phase()

    def phase(self, name: str, total: int, what: str) -> None:
        self._finish_phase()
        self._name, self._total, self._what = name, total, _items(total, what)
        self._done = self._rows = 0
        self._began = self._last_line = time.monotonic()
        self._line(f"{name}: {total} {self._what}" if total else name)

    def update(self, done: int, rows: int = 0) -> None:
        if not self._name:
            return
        self._done, self._rows = done, rows
        now = time.monotonic()
        if now - self._last_line < LOG_EVERY_SECONDS:
            return
        self._last_line = now
        seconds = now - self._began
        left = f", {seconds / done * (self._total - done):.0f} s left" if 0 < done <= self._total else ""
        rate = f", {rows / seconds:,.0f} rows/s" if rows else ""
        if done or not self._total:
            self._line(f"{self._name}: {done} of {self._total or '?'} {self._what}{rate}{left}")
        else:
            self._line(f"{self._name}: none of {self._total} {self._what} yet")

    def note(self, text: str) -> None:
        self._line(text)

    def _finish_phase(self) -> None:
        if self._name:
            rows = f", {self._rows:,} rows" if self._rows else ""
            self._line(f"{self._name}: done in {time.monotonic() - self._began:.1f} s{rows}")

    def _line(self, text: str) -> None:
        self._console.print(words(f"{time.strftime('%H:%M:%S')} {text}"), soft_wrap=True)


class _Count(ProgressColumn):
    """The amount of work, and how much of it is done once anything is."""

    def render(self, task: Task) -> Text:
        of, what = task.fields["of"], task.fields["what"]
        done = "" if not task.completed else f"{task.completed:,.0f}/" if of else f"{task.completed:,.0f}"
        return Text(f"{done}{of or ''} {what}".strip())


class _RowsPerSecond(ProgressColumn):
    """Row changes per second in this phase; empty if the phase counts none."""

    def render(self, task: Task) -> Text:
        rows, seconds = task.fields.get("rows", 0), task.finished_time or task.elapsed
        return Text(f"{rows / seconds:,.0f} rows/s" if rows and seconds else "", style="progress.data.speed")


class NoProgress(Silent):
    """Print nothing, as -q requests."""

    def __enter__(self) -> "NoProgress":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass


def progress() -> TerminalProgress | LogProgress | NoProgress:
    """Return the progress watcher that suits stderr and the chosen loudness."""
    if chosen() is Loudness.QUIET:
        return NoProgress()
    console = _stderr()
    return TerminalProgress(console) if console.is_terminal and chosen() is Loudness.NORMAL else LogProgress(console)


def print_error(error: ApplierError) -> None:
    """Print an error to stderr; on a terminal its hint has a separate line. Listed items follow. With -v, its
    place in the code comes first."""
    console = _stderr()
    if chosen() is Loudness.VERBOSE:
        console.file.writelines(printable(line, "\n") for line in traceback.format_tb(error.__traceback__))
    message, separator, hint = error.headline.partition(" hint: ")
    if console.is_terminal and separator:
        console.print(assembled(("error: ", "bold red"), message))
        console.print(assembled(("hint: ", "bold cyan"), hint))
    else:
        console.file.write(f"applier: error: {printable(error.headline)}\n")
    console.file.writelines(f"  {printable(line)}\n" for line in error.listed)


def print_note(text: str) -> None:
    """Print a note about a result to stderr."""
    if chosen() is Loudness.QUIET:
        return
    console = _stderr()
    if console.is_terminal:
        console.print(assembled(("note: ", "bold yellow"), text))
    else:
        console.file.write(f"applier: note: {printable(text)}\n")


def _items(count: int, what: str) -> str:
    """Return `what`, a plural that more words may follow, as it agrees with a count."""
    plural, space, more = what.partition(" ")
    return (plural.removesuffix("s") if count == 1 else plural) + space + more


def _stderr() -> Console:
    return Console(file=_Unwatched(sys.stderr),  # type: ignore[arg-type]  # rich asks for no more of it
                   force_terminal=sys.stderr.isatty())
