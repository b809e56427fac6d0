"""`applier replay`."""

from typing import Annotated

import typer

from applier.cli.application import (
    ConfOption,
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
from applier.cli.replay_options import (
    BaseOption,
    BinlogsOption,
    DefineTablesOption,
    ExecMode,
    ExecModeOption,
    IgnoreTablesOption,
    LowerCaseTableNamesOption,
    OnStatement,
    OnStatementOption,
    ReapplyOption,
    RewriteDbOption,
    SchemaOption,
    SystemTimeZoneOption,
    TablesOption,
    TargetFileSizeOption,
    TypeConversionsOption,
    Witness,
    WitnessOption,
    ZeroDates,
    ZeroDatesOption,
)
from applier.engine.choice import choose
from applier.mysql.time_zones import parse_datetime
from applier.option_texts import (
    parse_conf,
    parse_conversions,
    parse_places,
    parse_rewrites,
    parse_server_ids,
    parse_size,
    parse_stop_position,
)
from applier.options import ReplayOptions, check_target
from applier.schema.table_filter import TableFilter, parse_table_list


@app.command()
def replay(
    binlogs: BinlogsOption,
    output: Annotated[str, typer.Option(metavar="SNAPSHOT", help="The snapshot to make; must not exist yet.")] = "",
    lake: LakeOption = None,
    base: BaseOption = None,
    schema: SchemaOption = None,
    exec_mode: ExecModeOption = ExecMode.strict,
    type_conversions: TypeConversionsOption = None,
    start_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Apply event groups from this position on, whatever comes before and wherever the "
                                 "base stands; a group must start there. Those that the base has executed are passed "
                                 "over, as a replica does. The report says which transactions are left out.")] = None,
    reapply: ReapplyOption = False,
    stop_position: StopPositionOption = None,
    stop_gtid: StopGtidOption = None,
    stop_datetime: StopDatetimeOption = None,
    snapshot_at: SnapshotAtOption = None,
    tables: TablesOption = None,
    ignore_tables: IgnoreTablesOption = None,
    rewrite_db: RewriteDbOption = None,
    exclude_gtids: ExcludeGtidsOption = None,
    server_ids: ServerIdsOption = None,
    ignore_server_ids: IgnoreServerIdsOption = None,
    zero_dates: ZeroDatesOption = ZeroDates.null,
    witness: WitnessOption = Witness.report,
    on_statement: OnStatementOption = OnStatement.error,
    define_from_log: DefineTablesOption = False,
    system_time_zone: SystemTimeZoneOption = None,
    lower_case_table_names: LowerCaseTableNamesOption = None,
    check_foreign_keys: Annotated[bool, typer.Option(
        "--check-foreign-keys", help="At the end, look for rows whose foreign keys refer to missing rows, and list "
                                     "them with each table, here and in the report. The snapshot is the same with or "
                                     "without this option.")] = False,
    unsigned_bigint: UnsignedBigintOption = None,
    target_file_size: TargetFileSizeOption = "64M",
    pass_bytes: PassBytesOption = None,
    route: RouteOption = Route.auto,
    engine: EngineOption = Engine.auto,
    master: MasterOption = None,
    conf: ConfOption = None,
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
        witness=witness.value,
        on_statement=on_statement.value,
        define_from_log=define_from_log,
        system_time_zone=system_time_zone,
        lower_case_table_names=lower_case_table_names,
        check_foreign_keys=check_foreign_keys,
        engine=engine.value,
        file_bytes=parse_size(target_file_size),
        pass_bytes=None if pass_bytes is None else parse_size(pass_bytes),
        master=master,
        conf=parse_conf(conf or ()),
        reapply=reapply,
        unsigned_bigint=None if unsigned_bigint is None else unsigned_bigint.value,
    )
    is_on_spark = choose(options).engine == "spark"
    if is_on_spark:
        from applier.engine.spark import prefork, session

        session.boot(master, options.conf)  # Java starts while the rest is imported
    from applier.cli.status import print_result
    from applier.cli.terminal import progress
    from applier.jobs.on_engine import replaying

    if is_on_spark and session.is_local(master):
        prefork.start()  # before any thread starts; the progress bar is one
    with progress() as watcher:
        results = replaying.replay(options, watcher)
    for result in results:
        print_result(result)
