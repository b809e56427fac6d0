"""`applier diff`: what differs between two snapshots, or between one and where binlogs lead it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from applier.cli.application import StopDatetimeOption, StopGtidOption, StopPositionOption, app
from applier.cli.keys import KeyFiles, KeyFileSecret, Keyrings, keyed


class DiffFormat(StrEnum):
    """How differences are written."""

    table = "table"
    json = "json"
    parquet = "parquet"
    sql = "sql"


@app.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A snapshot.")],
    after: Annotated[str | None, typer.Argument(metavar="[AFTER]", help="Another one.")] = None,
    binlogs: Annotated[list[str] | None, typer.Option(
        metavar="PATH...", help="An archive, in place of AFTER: one that is replayed onto BEFORE, in a temporary "
                                "folder.")] = None,
    stop_position: StopPositionOption = None,
    stop_gtid: StopGtidOption = None,
    stop_datetime: StopDatetimeOption = None,
    format: Annotated[DiffFormat, typer.Option(
        help="How they are written. "
             "table: counts, and the first rows, to read; json: a line for each table with counts, and one for each "
             "row; parquet: a file for each table that differs; sql: statements that make the rows of BEFORE "
             "into those of AFTER, in one transaction that fails where a row is not as in BEFORE.")] = DiffFormat.table,
    definitions: Annotated[bool, typer.Option(
        "--definitions", help="With --format sql: also drop and create tables. Tables that only one side has, or whose "
                              "definitions differ; what is destroyed is printed, and stands in the file.")] = False,
    output: Annotated[str | None, typer.Option(
        metavar="PATH", help="The file to write, or, for parquet, the directory; json and sql go to stdout without it."
        )] = None,
    rows: Annotated[int, typer.Option(min=0, help="How many rows of each table are shown as a table.")] = 20,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means the whole database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Show what differs between two snapshots: rows that were removed, added and changed, by key.

    Files that both have are not read. Rows are found by the key of their table as the server compares it, values are
    compared byte for byte; a table without a key is a multiset of rows. Definitions compare by meaning.

    With --format sql the exit code is 1 if a table or its definition stays different.

        applier diff /lake/yesterday /lake/today
        applier diff /lake/base --binlogs /backup --format sql
                     --stop-datetime '2026-03-14 10:30:00'
    """
    from applier.api.diffing import diff as find
    from applier.cli.differences import print_diff, print_repair, write_parquet
    from applier.cli.terminal import progress
    from applier.errors import UsageError
    from applier.io.new_output import new_output
    from applier.io.printable import print_lines

    if (format is DiffFormat.parquet and output is None) or (format is DiffFormat.table and output is not None):
        raise UsageError(f"--format {format.value} goes to {'a directory' if output is None else 'the terminal'}",
                         hint="give --output DIR" if output is None else "leave --output out, or choose another format")
    if definitions and format is not DiffFormat.sql:
        raise UsageError("--definitions is for --format sql", hint="give both, or leave --definitions out")
    with progress() as watcher:
        found = find(before, after, binlogs=binlogs and keyed(binlogs, keyring, key_file, key_file_secret),
                     stop=_stop(stop_position, stop_gtid, stop_datetime), tables=tables,
                     ignore_tables=ignore_tables, progress=watcher)
        if format is DiffFormat.parquet:
            write_parquet(found, str(output))
    if format in (DiffFormat.table, DiffFormat.parquet):
        print_diff(found, rows if format is DiffFormat.table else 0)
        return
    repair = found.repair(definitions=definitions) if format is DiffFormat.sql else None
    parts = found.json_lines() if repair is None else repair.statements()
    if output is None:
        print_lines(parts)
    else:
        with new_output(output) as partial, open(partial, "xb") as file:
            file.writelines(parts)
    if repair is not None:
        print_repair(repair, output)
        if repair.not_repaired:
            raise typer.Exit(1)


def _stop(position: str | None, gtid: str | None, time: str | None) -> tuple[str, int] | str | datetime | None:
    """The one of the three that is given."""
    from applier.errors import UsageError
    from applier.mysql.time_zones import parse_time
    from applier.option_texts import parse_stop_position

    if sum(given is not None for given in (position, gtid, time)) > 1:
        raise UsageError("more than one place to stop", hint="give one of the --stop-… options")
    if position is not None:
        return parse_stop_position(position)
    return gtid if time is None else parse_time(time)
