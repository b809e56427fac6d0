"""`applier changes`: the row changes of tables, for other programs."""

from enum import StrEnum
from typing import Annotated

import typer

from applier.cli.application import (
    DefineFromLogOption,
    IgnoreServerIdsOption,
    ServerIdsOption,
    StopDatetimeOption,
    StopGtidOption,
    StopPositionOption,
    UnsignedBigint,
    app,
)
from applier.cli.keys import KeyFiles, KeyFileSecret, Keyrings, keyed
from applier.mysql.time_zones import parse_datetime
from applier.option_texts import parse_key, parse_server_ids, parse_stop_position
from applier.options import ChangeFilesOptions, ChangesOptions
from applier.schema.table_filter import TableFilter, parse_table_list


class Format(StrEnum):
    """The format in which changes are written."""

    json = "json"
    csv = "csv"
    parquet = "parquet"
    debezium = "debezium"
    arrow = "arrow"


@app.command()
def changes(
    binlogs: Annotated[list[str], typer.Option(
        metavar="PATH...", help="The archive, as `replay` takes it. Several may follow.")],
    output: Annotated[str, typer.Option(
        metavar="DIR|-", help="The directory to make, with a file for each table; or stdout.")] = "-",
    format: Annotated[Format, typer.Option(
        help="How they are written. "
             "json: an object a line, an update with both images; debezium: the same as Debezium's connector has it; "
             "csv, parquet, arrow (a stream): the rows of `applier.changes`, an update as two.")] = Format.json,
    tables: Annotated[list[str] | None, typer.Option(
        "--tables", "--table", metavar="DB.TABLE,...",
        help="Only these tables, as `replay` takes them; DB alone means the whole database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    columns: Annotated[str | None, typer.Option(
        metavar="NAME,...", help="Only these columns; the others are not decoded.")] = None,
    key: Annotated[list[str] | None, typer.Option(
        metavar="VALUE,...", help="Only changes of the row with this primary key: its columns' values, in the key's "
                                  "order. May be given several times.")] = None,
    base: Annotated[str | None, typer.Option(
        metavar="SNAPSHOT", help="A snapshot that has the tables' definitions; changes are those after it.")] = None,
    schema: Annotated[str | None, typer.Option(
        metavar="FILE.sql", help="CREATE TABLEs of tables that exist before the first binlog.")] = None,
    start_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Start at this position, whatever comes before and wherever the base stands; a group "
                                 "must start there.")] = None,
    start_datetime: Annotated[str | None, typer.Option(
        metavar="TIME", help="Only changes from the first group of this time or later on, as --stop-datetime takes it.")
    ] = None,
    stop_position: StopPositionOption = None,
    stop_gtid: StopGtidOption = None,
    stop_datetime: StopDatetimeOption = None,
    gtids: Annotated[str | None, typer.Option(
        "--gtids", "--gtid", metavar="SET",
        help="Only changes of these transactions: UUID:1-5, or MariaDB's one by one, 0-1-5,0-1-7.")]
        = None,
    exclude_gtids: Annotated[str | None, typer.Option(
        metavar="SET", help="All changes but those of these transactions. With --complete these are applied, and not "
                            "written.")] = None,
    server_ids: ServerIdsOption = None,
    ignore_server_ids: IgnoreServerIdsOption = None,
    define_from_log: DefineFromLogOption = False,
    ignore_foreign_keys: Annotated[bool, typer.Option(
        "--ignore-foreign-keys", help="Leave out what foreign keys change below the log; else that is an error.")]
        = False,
    complete: Annotated[bool, typer.Option(
        "--complete", help="Apply the changes to what was there before, for whole rows before and after each, and what "
                           "foreign keys change. A table's rows are then in memory.")] = False,
    statements: Annotated[bool, typer.Option(
        "--statements", help="With the statements behind changes, where the log has them: a column, in JSON a member. "
                             "Each line of JSON or CSV has the whole statement.")] = False,
    spreadsheet_safe: Annotated[bool, typer.Option(
        "--spreadsheet-safe", help="In CSV, put a quote (') before texts and column names that begin with =, +, -, @, "
                                   "a tab or a line break: a spreadsheet would run them as formulas.")] = False,
    unsigned_bigint: Annotated[UnsignedBigint, typer.Option(
        help="What BIGINT UNSIGNED is in Arrow and Parquet: decimal, of 20 digits; long, where a value from 2^63 on is "
             "an error; uint64.")] = UnsignedBigint.decimal,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Write the row changes of tables, in commit order, with their columns' names.

    As JSON on stdout the tables' changes are in one order, that of the log. A directory is complete or it is not there.

        applier changes --binlogs /backup --tables shop.orders | jq .after.status
        applier changes --binlogs /backup --format parquet --output /lake/changes
    """
    from applier.cli.terminal import print_note, progress
    from applier.engine import compiling
    from applier.io.printable import standard_output
    from applier.jobs.change_files.job import STDOUT, write_changes

    options = ChangeFilesOptions(
        ChangesOptions(
            keyed(binlogs, keyring, key_file, key_file_secret), base, schema,
            None if start_position is None else parse_stop_position(start_position),
            None if stop_position is None else parse_stop_position(stop_position), stop_gtid,
            None if stop_datetime is None else parse_datetime(stop_datetime), define_from_log, ignore_foreign_keys,
            complete, unsigned_bigint.value, None if start_datetime is None else parse_datetime(start_datetime), gtids,
            exclude_gtids=exclude_gtids, server_ids=parse_server_ids(server_ids or []),
            ignore_server_ids=parse_server_ids(ignore_server_ids or [])),
        output, format.value, TableFilter(parse_table_list(tables or []), parse_table_list(ignore_tables or [])),
        None if columns is None else tuple(name.strip() for name in columns.split(",")),
        tuple(map(parse_key, key)) if key else None, statements, spreadsheet_safe)
    out = standard_output()
    if output == STDOUT and compiling.is_ready("change files"):
        written = write_changes(options, out.buffer)  # no lines between the changes
    else:
        with progress() as watcher:
            written = write_changes(options, out.buffer, watcher)
    for note in written.notes:
        print_note(note)
    if output != STDOUT:
        print(f"{output}: {sum(written.rows.values()):,} changes of {len(written.rows):,} tables")
