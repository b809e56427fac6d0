"""`applier doctor`."""

from typing import Annotated

import typer

from applier.cli.application import (
    ConfOption,
    Engine,
    EngineOption,
    ExcludeGtidsOption,
    IgnoreServerIdsOption,
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
from applier.cli.documents import Json
from applier.cli.keys import KeyFiles, KeyFileSecret, Keyrings, keyed
from applier.cli.replay_options import ExecMode, OnStatement, ReapplyOption
from applier.schema.table_filter import TableFilter, parse_table_list

_PROBLEMS = 2


@app.command()
def doctor(
    binlogs: Annotated[list[str] | None, typer.Option(
        metavar="PATH...", help="The archive, as `replay` takes it. Several may follow. Without one only the machine "
                                "is looked at.")] = None,
    base: Annotated[str | None, typer.Option(metavar="SNAPSHOT", help="The snapshot that a replay would start from.")]
        = None,
    schema: Annotated[str | None, typer.Option(
        metavar="FILE.sql", help="CREATE TABLEs of tables that exist, empty, before the first binlog.")] = None,
    output: Annotated[str | None, typer.Option(
        metavar="SNAPSHOT", help="Where the snapshot is to be: whether one can be made there. Nothing is left there.")]
        = None,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means the whole database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    rewrite_db: Annotated[list[str] | None, typer.Option(
        metavar="OLD=NEW,...", help="Other names for databases, as of `replay`.")] = None,
    exclude_gtids: ExcludeGtidsOption = None,
    server_ids: ServerIdsOption = None,
    ignore_server_ids: IgnoreServerIdsOption = None,
    start_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Where the replay would start, whatever comes before.")] = None,
    reapply: ReapplyOption = False,
    stop_position: StopPositionOption = None,
    stop_gtid: StopGtidOption = None,
    stop_datetime: StopDatetimeOption = None,
    snapshot_at: SnapshotAtOption = None,
    exec_mode: Annotated[ExecMode, typer.Option(help="As of `replay`.")] = ExecMode.strict,
    type_conversions: Annotated[list[str] | None, typer.Option(
        metavar="NAME,...", help="Which columns may have other types, as of `replay`.")] = None,
    on_statement: Annotated[OnStatement, typer.Option(
        help="Whether a change that is logged as a statement would stop the replay.")] = OnStatement.error,
    define_from_log: Annotated[bool, typer.Option(
        "--define-from-log", help="Define tables that nothing else defines by the log's metadata, as `replay` does.")]
        = False,
    system_time_zone: Annotated[str | None, typer.Option(metavar="ZONE", help="As of `replay`.")] = None,
    lower_case_table_names: Annotated[int | None, typer.Option(metavar="0|1|2", help="As of `replay`.")] = None,
    unsigned_bigint: UnsignedBigintOption = None,
    pass_bytes: PassBytesOption = None,
    route: RouteOption = Route.auto,
    engine: EngineOption = Engine.auto,
    master: MasterOption = None,
    conf: ConfOption = None,
    json: Json = False,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Look at everything that a replay needs, and say what would stop it and what to do.

    Java, kernels, memory, disks and stores; the files of the archive, their heads, checksums and keys; gaps; formats
    and images; definitions; what a replay would cost. The whole log is read, but no row is decoded. What only rows
    show, as a row that is not there, a replay finds.

    Exit code 2 if there is a problem that would stop a replay.

        applier doctor --binlogs /backup --base /lake/monday --output /lake/tuesday
    """
    from applier.cli.diagnosed import print_diagnosis
    from applier.cli.terminal import progress
    from applier.jobs.doctor.job import diagnose
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
    from applier.options import DoctorOptions

    options = DoctorOptions(
        binlogs=keyed(binlogs or [], keyring, key_file, key_file_secret),
        output=output or "",
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
        on_statement=on_statement.value,
        define_from_log=define_from_log,
        system_time_zone=system_time_zone,
        lower_case_table_names=lower_case_table_names,
        unsigned_bigint=None if unsigned_bigint is None else unsigned_bigint.value,
        pass_bytes=None if pass_bytes is None else parse_size(pass_bytes),
        route=route.value,
        engine=engine.value,
        master=master,
        conf=parse_conf(conf or ()),
        reapply=reapply,
    )
    with progress() as watcher:
        found = diagnose(options, watcher)
    print_diagnosis(found, as_json=json)
    if found.problems:
        raise typer.Exit(_PROBLEMS)
