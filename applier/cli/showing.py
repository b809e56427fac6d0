"""`applier show`: binlogs as text, as `mysqlbinlog` and `mariadb-binlog` print them."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TextIO

from applier.cli.application import verb
from applier.cli.loudness import Loudness, chosen
from applier.cli.naming import named_binlogs
from applier.options.verbs import SHOW
from applier.schema.table_filter import TableFilter, parse_table_list

if TYPE_CHECKING:
    from applier.io.printable import TerminalText

_STDIN = "-"


@verb(SHOW)
def show(*, tables: list[str] | None, gtids: str | None, exclude_gtids: str | None,
         server_ids: tuple[int, ...], ignore_server_ids: tuple[int, ...], thread_ids: tuple[int, ...],
         **arguments: Any) -> None:
    """Print events and row changes of binlog files. No schema is needed: columns are @1, @2, ...

    Takes options of mysqlbinlog by their names, too, and prints what that prints, or mariadb-binlog of MariaDB's files:

        applier show --base64-output auto --binlogs binlog.000042 | mysql

    In a file or a pipe, names and values are printed unchanged; on a terminal, control characters are shown as \\x1b.
    """
    from applier.api.calls.job_options import logs
    from applier.binlog.locating.group_choice import LeftOutGroups
    from applier.binlog.locating.gtid_choice import GtidChoice
    from applier.engine import compiling
    from applier.jobs import show as printer
    from applier.jobs.show.selection import Selection, one_bound
    from applier.jobs.show.style import Style

    with ExitStack() as ending:
        files = _files(arguments, ending)
        start, stop = (one_bound(end, arguments[end], arguments[f"{end}_position"], arguments[f"{end}_datetime"], file)
                       for end, file in (("start", files[0]), ("stop", files[-1])))
        selection = Selection(
            start, stop, GtidChoice(gtids) if gtids else None,
            LeftOutGroups(GtidChoice(exclude_gtids) if exclude_gtids else None, server_ids, ignore_server_ids),
            thread_ids, TableFilter(parse_table_list(tables)) if tables else None, arguments["offset"])
        style = Style(arguments["base64_output"], max(chosen() - Loudness.NORMAL, 0), arguments["short_form"],
                      arguments["skip_gtids"], arguments["local_load"])
        if not compiling.is_ready("show"):
            from applier.cli.terminal import progress

            with progress() as watcher:
                compiling.ensure("show", watcher)
        out = ending.enter_context(_output(arguments["result_file"]))
        notes = printer.show([*logs(arguments | {"binlogs": files})], arguments["format"], out, selection, style)
    if notes:
        from applier.cli.terminal import print_note

        for note in notes:
            print_note(note)


def _files(arguments: dict[str, Any], ending: ExitStack) -> list[str]:
    """The files to show; those that are not on this machine's disk are there until the end."""
    from applier.jobs.show import binlogs

    if (source := arguments["source"]) is not None:
        folder = ending.enter_context(TemporaryDirectory(prefix="applier-show-"))
        named = [*(arguments["binlogs"] or []), *(arguments["files"] or [])]
        return _copied(source, arguments["defaults_file"], named, folder)
    paths = named_binlogs(arguments["binlogs"], arguments["files"])
    if _STDIN not in paths:
        return binlogs(paths)
    path = os.path.join(ending.enter_context(TemporaryDirectory(prefix="applier-show-")), "stdin")
    with open(path, "wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    return [found for name in paths for found in ([path] if name == _STDIN else binlogs([name]))]


def _copied(source: str, defaults_file: str | None, named: list[str], folder: str) -> list[str]:
    """Copies of a server's binlogs, as `archive` makes them: those named, or all."""
    from applier.api.archiving import archive
    from applier.cli.terminal import progress
    from applier.errors import UsageError
    from applier.jobs.show import binlogs

    def are_there() -> bool:
        return bool(named) and any(name > max(named) for name in os.listdir(folder) if name[-1:].isdigit())

    with progress() as watcher:
        archive(source, folder, start_file=min(named, default=None), until_now=True, defaults_file=defaults_file,
                stopped=are_there, progress=watcher)
    found = {os.path.basename(path): path for path in binlogs([folder])}
    if missing := [name for name in named if name not in found]:
        raise UsageError(f"the server has no binlog {missing[0]}", hint="SHOW BINARY LOGS lists those that it has")
    return [found[name] for name in named or found]


@contextmanager
def _output(path: str | None) -> Iterator["TextIO | TerminalText"]:
    """Where the text goes: stdout, or a file that appears when it is complete."""
    if path is None:
        from applier.io.printable import standard_output

        yield standard_output()
        return
    from applier.io.disk.new_files import new_output

    with new_output(path) as partial, open(partial, "w", encoding="utf-8") as file:
        yield file
