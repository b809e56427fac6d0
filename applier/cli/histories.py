"""`applier history`: the versions of rows, of one on the terminal, or of all in a file."""

from typing import Annotated

import typer

from applier.cli.application import (
    ConfOption,
    DefineFromLogOption,
    Engine,
    EngineOption,
    MasterOption,
    StopDatetimeOption,
    StopGtidOption,
    StopPositionOption,
    UnsignedBigint,
    app,
)
from applier.cli.keys import KeyFiles, KeyFileSecret, Keyrings, keyed
from applier.errors import UsageError
from applier.mysql.time_zones import parse_datetime
from applier.option_texts import parse_conf, parse_key, parse_stop_position
from applier.options import ChangesOptions, HistoryFilesOptions


@app.command()
def history(
    binlogs: Annotated[list[str], typer.Option(
        metavar="PATH...", help="The archive, as `replay` takes it. Several may follow.")],
    table: Annotated[str, typer.Option("--tables", "--table", metavar="DB.TABLE", help="The table: one.")],
    key: Annotated[str | None, typer.Option(
        metavar="VALUE,...", help="Show the row with this primary key; it may be gone. Its columns' values, in the "
                                  "key's order.")] = None,
    output: Annotated[str | None, typer.Option(
        metavar="DIR", help="A directory to make; Parquet files of all versions of all rows.")] = None,
    columns: Annotated[str | None, typer.Option(metavar="NAME,...", help="Only these columns.")] = None,
    base: Annotated[str | None, typer.Option(
        metavar="SNAPSHOT", help="A snapshot to begin with: its rows are the first versions.")] = None,
    schema: Annotated[str | None, typer.Option(
        metavar="FILE.sql", help="CREATE TABLEs of tables that exist before the first binlog. Their rows are known "
                                 "from the before-images of their first changes, which have to be whole.")] = None,
    stop_position: StopPositionOption = None,
    stop_gtid: StopGtidOption = None,
    stop_datetime: StopDatetimeOption = None,
    define_from_log: DefineFromLogOption = False,
    statements: Annotated[bool, typer.Option(
        "--statements", help="With --output: with a column of the statements that began versions, where the log has "
                             "them.")] = False,
    unsigned_bigint: Annotated[UnsignedBigint, typer.Option(
        help="What BIGINT UNSIGNED is in files: decimal, of 20 digits; long, where a value from 2^63 on is an "
             "error; uint64.")] = UnsignedBigint.decimal,
    engine: EngineOption = Engine.auto,
    master: MasterOption = None,
    conf: ConfOption = None,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Show what a row was, when, and by which transaction; or write all versions of a table's rows.

        applier history --binlogs /backup --tables shop.orders --key 9499
        applier history --binlogs /backup --tables shop.orders --output /lake/orders
    """
    from applier.cli.terminal import print_note, progress
    from applier.cli.versions import print_versions
    from applier.jobs.changes.job import ChangeLog
    from applier.jobs.history.job import row_history
    from applier.jobs.on_engine import histories
    from applier.schema.table_filter import one_table

    if (key is None) == (output is None):
        raise UsageError("neither one row nor an output is given",
                         hint="give --key to show one row, or --output to write all of "
                                                          "them")
    options = ChangesOptions(
        keyed(binlogs, keyring, key_file, key_file_secret), base, schema, None,
        None if stop_position is None else parse_stop_position(stop_position),
        stop_gtid, None if stop_datetime is None else parse_datetime(stop_datetime), define_from_log, complete=True,
        unsigned_bigint=unsigned_bigint.value)
    names = None if columns is None else tuple(name.strip() for name in columns.split(","))
    with progress() as watcher:
        found = row_history(ChangeLog(options, watcher), one_table(table), names,
                            None if key is None else (parse_key(key),), places=key is not None,
                            statements=statements and key is None)
        if output is not None:
            to = HistoryFilesOptions(found.places, output, engine.value, master, parse_conf(conf or ()))
            made = histories.write(found, to, watcher)
    if output is not None:
        print(f"{output}: {made.rows:,} versions until {made.position}")
    else:
        print_versions(found, f"no version of a row with the key {key}")
    for note in found.notes:
        print_note(note)
