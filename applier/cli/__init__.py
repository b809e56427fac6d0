"""The command line: one verb per job. Slow modules are imported only when a verb needs them.

Exit codes: 0 done; 1 the replay stopped as a replica would (because of the data); 2 bad usage or unreadable input; 75
the same command may succeed later: another run was first, or a store did not answer.
"""

import atexit
import gc
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import pairwise
from typing import Any, NoReturn

import typer

# Each registers its verbs.
from applier.cli import replaying, dumps, snapshots, querying, verifying, diffs, changing, histories, undoing  # isort: skip  # noqa: F401
from applier.cli import archiving, comparing, syncing, lakes, publishing, rewriting, logs, showing, doctoring  # isort: skip  # noqa: F401
from applier.cli.application import app
from applier.cli.loudness import Loudness, choose
from applier.engine import left_out
from applier.errors import ApplierError, StoreUnavailable, TelemetryWarning, wording
from applier.io.disk import full_disk
from applier.io.transient import comes_of, is_transient, unavailable

INTERNAL_ERROR = 70  # EX_SOFTWARE of sysexits.h: a bug, so none of the documented codes
INTERRUPTED = 130


@wording(of_command_line=True)
def main(argv: list[str]) -> int:
    """Run one command line, `argv` without the program's name, in this process; return the exit code.

    Errors that a person can act on are printed to stderr, never raised.
    """
    try:
        with _warnings_as_notes():
            code = _command()(args=_spread_binlogs(argv), prog_name="applier", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        error.show()  # type: ignore[attr-defined]  # all that typer raises itself are Click's, which has it
        return 2
    except ApplierError as error:
        _print_error(error)
        return StoreUnavailable.exit_code if comes_of(error, is_transient) else error.exit_code
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):  # typer turns it into an exit with 1
            raise
        return _unread()
    except BrokenPipeError:
        return _unread()
    except OSError as error:
        found = unavailable(error, None) if is_transient(error) else _unreadable(error)
        _print_error(found)
        return found.exit_code
    finally:
        choose(Loudness.NORMAL)
    return code if isinstance(code, int) else 0


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print the program's own warnings as notes; each text once."""
    def show(message: Warning | str, category: type[Warning], *where: Any, **others: Any) -> None:
        if not issubclass(category, TelemetryWarning):
            return before(message, category, *where, **others)
        from applier.cli.terminal import print_note

        print_note(str(message))

    with warnings.catch_warnings():
        before, warnings.showwarning = warnings.showwarning, show
        yield


@cache
def _command() -> Any:
    """Return all verbs with their options. Typer takes 20 ms of CPU time to create them on each call of `app`."""
    return typer.main.get_command(app)


def console() -> None:
    """The console script: a bug must not look like one of the documented exit codes."""
    show_every_character()
    gc.set_threshold(100_000, 20, 50)  # the default of 700 scans all modules several times while they are imported
    left_out.shut()
    try:
        code = main(sys.argv[1:])
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception:
        import traceback

        with suppress(OSError):
            traceback.print_exc()
        code = INTERNAL_ERROR
    if code == INTERRUPTED:  # typer makes it of an interrupt, too
        with suppress(OSError):
            print("applier: interrupted" + ": nothing was written" * _has_output(sys.argv), file=sys.stderr)
    leave(code)


def show_every_character() -> None:
    """Make stdout and stderr escape characters that the locale cannot show: no name may stop a job."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def leave(code: int) -> NoReturn:
    """End the process at once, after the functions registered with atexit. Shutting down the interpreter, with its
    kernels and mapped logs, takes most of a second, and the system frees everything anyway."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # the reader is gone, or its disk is full: already reported, or irrelevant
            stream.flush()
    os._exit(code)


def _has_output(argv: list[str]) -> bool:
    """Return whether an output file is to be written, which appears when it is complete; "-" is stdout."""
    return any((word in ("--output", "--lake") and after != "-") or word.startswith("--lake=") or
               (word.startswith("--output=") and word != "--output=-")
               for word, after in pairwise([*argv, ""]))


def _spread_binlogs(argv: list[str]) -> list[str]:
    """Rewrite `--binlogs A B`, which a shell makes from an unquoted glob, as `--binlogs A --binlogs B`."""
    spread: list[str] = []
    taking, first = False, False
    for word in argv:
        if word.startswith("-") or not taking:
            taking = first = word == "--binlogs"
            spread.append(word)
        else:
            spread += [word] if first else ["--binlogs", word]
            first = False
    return spread


def _unread() -> int:
    """Return the exit code for a pipe that its reader has closed; discard buffered output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _unreadable(error: OSError) -> ApplierError:
    """Convert an error of a file system; some file systems of pyarrow raise errors with only a text."""
    file = error.filename.decode(errors="replace") if isinstance(error.filename, bytes) else error.filename
    if full := full_disk.explanation(str(error)):
        return ApplierError(full[0], file=None if file is None else str(file), hint=full[1])
    if error.strerror is None:
        return ApplierError(str(error))
    return ApplierError(error.strerror, file=None if file is None else str(file))


def _print_error(error: ApplierError) -> None:
    from applier.cli.terminal import print_error

    print_error(error)
