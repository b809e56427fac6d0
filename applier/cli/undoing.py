"""`applier undo`: what takes transactions back, as a file for a server."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from applier.cli import loudness
from applier.cli.application import DefineFromLogOption, app
from applier.cli.keys import KeyFiles, KeyFileSecret, Keyrings, keyed
from applier.errors import UsageError
from applier.mysql.time_zones import parse_time
from applier.option_texts import parse_stop_position

if TYPE_CHECKING:
    from applier.jobs.undo.conflicts import Conflict
    from applier.jobs.undo.result import Undone

_LISTED = 20
_NOT_BACK = "Not taken back: AUTO_INCREMENT's next number, and whatever is not in rows of these tables."
_COMPUTED = ("Look at these rows: a value that was changed since may have been computed from one that is taken back. "
             "`applier history --key` shows the statements.")
_HOW_TO_RUN = {
    "sql": ["Read it, then run it: mysql < FILE. Nothing happens if a row is not as the log left it, or if a table has "
            "triggers.", _NOT_BACK],
    "binlog": ["Run it: mysqlbinlog --skip-gtids FILE | mysql, or mariadb-binlog FILE | mariadb. Triggers do not act. "
               "Rows are found by their key: what others wrote after the archive ends is not noticed.", _NOT_BACK]}


class UndoFormat(StrEnum):
    """What the file is."""

    sql = "sql"
    binlog = "binlog"


class OnConflict(StrEnum):
    """What happens to rows that others have changed since."""

    refuse = "refuse"
    skip = "skip"
    columns = "columns"
    force = "force"


@app.command()
def undo(
    binlogs: Annotated[list[str], typer.Option(
        metavar="PATH...", help="The archive, as `replay` takes it; from before the transactions up to where the "
                                "server stands. Several may follow.")],
    output: Annotated[str, typer.Option(metavar="FILE", help="The file to make.")],
    gtids: Annotated[str | None, typer.Option(
        "--gtids", "--gtid", metavar="SET", help="Take back these transactions: UUID:1-5, or MariaDB's one by one, "
                                                 "0-1-5,0-1-7.")] = None,
    start_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Only transactions that begin at this position or later.")] = None,
    stop_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Only transactions that end up to this position.")] = None,
    start_datetime: Annotated[str | None, typer.Option(
        metavar="TIME", help="Only transactions of this time or later, as '2026-03-14 10:30:00' (local time) or with "
                             "an offset ('2026-03-14T10:30:00+00:00').")] = None,
    stop_datetime: Annotated[str | None, typer.Option(
        metavar="TIME", help="Only transactions of an earlier time.")] = None,
    tables: Annotated[list[str] | None, typer.Option(
        "--tables", "--table", metavar="DB.TABLE,...", help="Only changes to these tables; DB alone means the whole "
                                                            "database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    where: Annotated[str | None, typer.Option(
        metavar="EXPRESSION", help="Only rows for which this is true, before the transactions or after them, as in "
                                   "\"category = 'audio' AND price = 0.01\": SQL on a table's columns.")] = None,
    base: Annotated[str | None, typer.Option(
        metavar="SNAPSHOT", help="Begin with this snapshot, of a time before them.")] = None,
    schema: Annotated[str | None, typer.Option(
        metavar="FILE.sql", help="CREATE TABLEs of tables that exist before the first binlog. Their rows are known "
                                 "from the before-images of their first changes, which have to be whole.")] = None,
    until: Annotated[str | None, typer.Option(
        metavar="PLACE", help="Where the server stands, if that is not the end of the archive: FILE:POS, a GTID set "
                              "that it has executed, or a time.")] = None,
    format: Annotated[UndoFormat, typer.Option(
        help="What the file is. "
             "sql: one transaction, with a statement for each row that finds it by all of its values; binlog: the same "
             "as events with full images, for `mysqlbinlog --skip-gtids FILE | mysql`.")] = UndoFormat.sql,
    on_conflict: Annotated[OnConflict, typer.Option(
        help="What happens to rows that others touched. "
             "If they have changed rows since, have keys of rows that come back, or refer to rows that go: refuse, "
             "listing them; skip: do not undo these rows; columns: undo of changed ones the columns that nobody "
             "changed since; force: undo changed ones as if nobody had.")] = OnConflict.refuse,
    define_from_log: DefineFromLogOption = False,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Write what takes transactions back: their rows get the values that they had before.

    The archive is read to its end, so that rows are known that others have changed since. Nothing is done to a server:
    the file is for you to read and run.

        applier undo --binlogs /backup --output undo.sql
                     --gtids 2fd3e025-e51c-11f1-9d4f-02fc00000001:12
    """
    from applier.api.undoing import undo as write
    from applier.cli.terminal import print_note, progress

    with progress() as watcher:
        found = write(keyed(binlogs, keyring, key_file, key_file_secret), output, gtids=gtids,
                      start=_bound(start_position, start_datetime),
                      stop=_bound(stop_position, stop_datetime), tables=tables, ignore_tables=ignore_tables,
                      where=where, base=base, schema=schema, until=until,
                      format=format.value, on_conflict=on_conflict.value, define_from_log=define_from_log,
                      progress=watcher)
    _print(found, on_conflict)
    for note in found.notes:
        print_note(note)


def _listed(rows: Sequence["Conflict"], count: int) -> list[str]:
    """A line a row, with -v of all that are known, and how many more there are."""
    shown = rows if loudness.chosen() >= loudness.Loudness.VERBOSE else rows[:_LISTED]
    lines = [f"{row.outcome}: {row}" for row in shown]
    known = "all" if len(rows) == count else f"{len(rows):,}"
    how = f", -v lists {known}" if len(shown) < len(rows) else ""
    return lines + [f"… and {count - len(shown):,} more{how}"] * (count > len(shown))


def _bound(position: str | None, time: str | None) -> tuple[str, int] | datetime | None:
    """The one of the two that is given."""
    if position is not None and time is not None:
        raise UsageError("a position and a time are given for the same end", hint="give one of them")
    if time is not None:
        return parse_time(time)
    return None if position is None else parse_stop_position(position)


def _print(found: "Undone", on_conflict: OnConflict) -> None:
    """What it does, what it does not, and what to do now."""
    from applier.cli.grids import new_grid, result_console
    from applier.cli.terminal import assembled, words

    console = result_console()
    console.print(assembled((found.output, "bold"), f" takes back {found.what}"),
                  soft_wrap=not console.is_terminal)
    grid = new_grid("table", "come back", "go", "change back", "as before", "changed since", "not undone")
    for table in found.tables:
        grid.add(table.name, table.inserted, table.deleted, table.updated, table.same, table.partly,
                table.in_conflict)
    grid.print(console)
    for statement in (one for table in found.tables for one in table.partitions):
        console.print(words(f"made again first: {statement}"), soft_wrap=True)
    lines = _listed(found.conflicts, sum(table.in_conflict for table in found.tables))
    lines += _listed(found.undone_anyway, sum(table.partly for table in found.tables))
    lines += [_COMPUTED] * (on_conflict is OnConflict.columns and bool(found.undone_anyway))
    lines += [*_HOW_TO_RUN[found.format], *found.proof]
    lines += ["Afterwards, if nothing else is written meanwhile:"] * bool(found.checks)
    for line in lines:
        console.print(words(line), soft_wrap=not console.is_terminal)
    for statement, expected in found.checks:
        console.print(words(f"  {expected:>12,}  {statement};"), soft_wrap=True)
