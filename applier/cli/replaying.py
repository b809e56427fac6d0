"""`applier replay`."""

from enum import StrEnum
from typing import Annotated

import typer

from applier.cli.application import (
    Engine,
    EngineOption,
    ExcludeGtidsOption,
    IgnoreServerIdsOption,
    LakeOption,
    MasterOption,
    PassBytesOption,
    Route,
    RouteOption,
    ServerIdsOption,
    SnapshotAtOption,
    StopDatetimeOption,
    StopGtidOption,
    StopPositionOption,
    UnsignedBigintOption,
    app,
)
from applier.cli.keys import KeyFiles, KeyFileSecret, Keyrings, keyed
from applier.engine.choice import choose
from applier.mysql.time_zones import parse_datetime
from applier.option_texts import (
    parse_conversions,
    parse_places,
    parse_rewrites,
    parse_server_ids,
    parse_size,
    parse_stop_position,
)
from applier.options import ReplayOptions, check_target
from applier.schema.table_filter import TableFilter, parse_table_list


class ExecMode(StrEnum):
    """How to treat a row that is not there, or a key that is there twice."""

    strict = "strict"
    idempotent = "idempotent"


class ZeroDates(StrEnum):
    """What '0000-00-00' becomes."""

    null = "null"
    error = "error"


class OnStatement(StrEnum):
    """How to treat a change that is logged as a statement, not as rows."""

    error = "error"
    skip = "skip"


@app.command()
def replay(
    binlogs: Annotated[list[str], typer.Option(
        metavar="PATH...", help="The archive: a directory, files, a glob in quotes, or an index file; local or a URI "
                                "(s3://, gs://, hdfs://); files may be .gz, .zst, .lz4 or .xz. Several may follow.")],
    output: Annotated[str, typer.Option(metavar="SNAPSHOT", help="The snapshot to make; must not exist yet.")] = "",
    lake: LakeOption = None,
    base: Annotated[str | None, typer.Option(metavar="SNAPSHOT", help="Start from this snapshot.")] = None,
    schema: Annotated[str | None, typer.Option(
        metavar="FILE.sql", help="CREATE TABLEs of tables that exist, empty, before the first binlog.")] = None,
    exec_mode: Annotated[ExecMode, typer.Option(
        help="What happens if a row is not as the log has it. "
             "strict: stop if a row is not there (1032) or a key is there twice (1062). idempotent: an insert "
             "replaces the "
             "rows in its way; updates and deletes that cannot be made are suppressed and listed.")] = ExecMode.strict,
    type_conversions: Annotated[list[str] | None, typer.Option(
        metavar="NAME,...", help="Which columns of the log may have another type than the table's (of --base or "
        "--schema), as replica_type_conversions says: all_non_lossy, all_lossy; all_unsigned to read integers as "
        "such.")] = None,
    start_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Apply event groups from this position on, whatever comes before and wherever the "
                                 "base stands; a group must start there. The report says which transactions are left "
                                 "out.")] = None,
    stop_position: StopPositionOption = None,
    stop_gtid: StopGtidOption = None,
    stop_datetime: StopDatetimeOption = None,
    snapshot_at: SnapshotAtOption = None,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means the whole database. `*` and `?` are wildcards, "
        "and so are `%` and, in a name with `%`, `_`, as in replicate-wild-do-table (`\\_` is an underscore).")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    rewrite_db: Annotated[list[str] | None, typer.Option(
        metavar="OLD=NEW,...", help="Give databases of the log other names, in rows and DDL, before --tables and "
                                    "--ignore-tables apply; --schema and --base use the new names.")] = None,
    exclude_gtids: ExcludeGtidsOption = None,
    server_ids: ServerIdsOption = None,
    ignore_server_ids: IgnoreServerIdsOption = None,
    zero_dates: Annotated[ZeroDates, typer.Option(
        help="A zero date becomes null and is counted, or stops the replay.")] = ZeroDates.null,
    on_statement: Annotated[OnStatement, typer.Option(
        help="INSERT, UPDATE, LOAD DATA and other changes that are logged as statements, which a row applier cannot "
             "apply: error stops there; skip leaves them out, and the report counts them by table. The snapshot then "
             "lacks their changes.")]
        = OnStatement.error,
    define_from_log: Annotated[bool, typer.Option(
        "--define-from-log", help="If neither a CREATE TABLE in the log nor --schema nor --base defines a table, take "
                                  "columns, types "
                                  "and primary key from the log's metadata (binlog_row_metadata=FULL).")] = False,
    system_time_zone: Annotated[str | None, typer.Option(
        metavar="ZONE", help="The server's SYSTEM time zone, which the log does not record, as +02:00 or Europe/Rome: "
                             "ALTER uses it to convert between TIMESTAMP and other types in sessions that set no "
                             "zone.")] = None,
    check_foreign_keys: Annotated[bool, typer.Option(
        "--check-foreign-keys", help="At the end, look for rows whose foreign keys refer to missing rows, and list "
                                     "them with each table, here and in the report. The snapshot is the same with or "
                                     "without this option.")] = False,
    unsigned_bigint: UnsignedBigintOption = None,
    target_file_size: Annotated[str, typer.Option(
        metavar="SIZE", help="About how large new files become, as 64M or 1G. An increment writes again each file that "
                             "has a changed row; many small files are slower to read.")] = "64M",
    pass_bytes: PassBytesOption = None,
    route: RouteOption = Route.auto,
    engine: EngineOption = Engine.auto,
    master: MasterOption = None,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Replay binlogs into a new snapshot.

    Starts from nothing (table definitions come from the CREATE TABLEs in the log), from --schema, or from --base.
    The output is complete or it is not there; all its tables stand at one position, always an event group's end.

    What did the shop's tables hold before 10:30?

        applier replay --binlogs /backup --output /lake/before
                       --stop-datetime '2026-03-14 10:30:00'

    Bring yesterday's snapshot to today:

        applier replay --base /lake/yesterday --binlogs /backup
                       --output /lake/today

    Keep a lake, whose versions share files, up to date:

        applier replay --lake /lake/shop --binlogs /backup
    """
    check_target(output, lake)
    options = ReplayOptions(
        binlogs=keyed(binlogs, keyring, key_file, key_file_secret),
        output=output,
        lake=lake,
        base=base,
        schema=schema,
        start_position=None if start_position is None else parse_stop_position(start_position),
        stop_position=None if stop_position is None else parse_stop_position(stop_position),
        stop_gtid=stop_gtid,
        stop_datetime=None if stop_datetime is None else parse_datetime(stop_datetime),
        snapshot_at=parse_places(snapshot_at or []),
        filter=TableFilter(parse_table_list(tables or []), parse_table_list(ignore_tables or [])),
        rewrites=parse_rewrites(rewrite_db or []),
        exclude_gtids=exclude_gtids,
        server_ids=parse_server_ids(server_ids or []),
        ignore_server_ids=parse_server_ids(ignore_server_ids or []),
        exec_mode=exec_mode.value,
        type_conversions=parse_conversions(type_conversions or []),
        route=route.value,
        zero_dates=zero_dates.value,
        on_statement=on_statement.value,
        define_from_log=define_from_log,
        system_time_zone=system_time_zone,
        check_foreign_keys=check_foreign_keys,
        engine=engine.value,
        file_bytes=parse_size(target_file_size),
        pass_bytes=None if pass_bytes is None else parse_size(pass_bytes),
        master=master,
        unsigned_bigint=None if unsigned_bigint is None else unsigned_bigint.value,
    )
    is_on_spark = choose(options).engine == "spark"
    if is_on_spark:
        from applier.engine.spark import prefork, session

        session.boot(master)  # Java starts while the rest is imported
    from applier.cli.status import print_result
    from applier.cli.terminal import progress
    from applier.jobs.on_engine import replaying

    if is_on_spark and session.is_local(master):
        prefork.start()  # before any thread starts; the progress bar is one
    with progress() as watcher:
        results = replaying.replay(options, watcher)
    for result in results:
        print_result(result)
