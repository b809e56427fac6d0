"""`applier sync`: a lake that follows an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from applier.cli.application import (
    ExcludeGtidsOption,
    IgnoreServerIdsOption,
    ServerIdsOption,
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
    OnStatement,
    OnStatementOption,
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
from applier.option_texts import (
    parse_conversions,
    parse_rewrites,
    parse_seconds,
    parse_server_ids,
    parse_size,
)
from applier.options import ReplayOptions
from applier.schema.table_filter import TableFilter, parse_table_list

if TYPE_CHECKING:
    from applier.jobs.sync.job import SyncOptions
    from applier.jobs.sync.round import Round


@app.command()
def sync(
    binlogs: BinlogsOption,
    lake: Annotated[str, typer.Option(
        metavar="LAKE", help="The lake that follows: each round makes its next version. A new one is made.")],
    every: Annotated[str, typer.Option(
        metavar="TIME", help="How long to wait between two looks at the archive: 10s, 0.5s, 1m.")] = "10s",
    until_now: Annotated[bool, typer.Option(
        "--until-now", help="End after one round, as for cron: 0 if all that is there is in the lake and published.",
    )] = False,
    iceberg: Annotated[str | None, typer.Option(
        metavar="CATALOG", help="Publish each version in this catalog of Iceberg, as `publish` does.")] = None,
    change_data: Annotated[bool, typer.Option(
        "--change-data", help="With --delta: its tables have a change data feed.")] = False,
    delta: Annotated[str | None, typer.Option(
        metavar="DIR", help="Publish each version as Delta's tables below this directory.")] = None,
    warehouse: Annotated[str | None, typer.Option(
        metavar="DIR", help="Where the catalog's own files go.")] = None,
    keep: Annotated[str | None, typer.Option(
        metavar="N|TIME", help="How many versions stay, or those published since so long ago, as `expire` takes it. By "
                               "default all.")] = None,
    health: Annotated[list[str] | None, typer.Option(
        metavar="FILE", help="Say in this file how it does, after each look: in JSON, or in Prometheus' text format in "
                             "a file that ends in .prom. Several may be given.")] = None,
    json_log: Annotated[bool, typer.Option("--json-log", help="Print a JSON document a round, not a line.")] = False,
    base: BaseOption = None,
    schema: SchemaOption = None,
    exec_mode: ExecModeOption = ExecMode.strict,
    type_conversions: TypeConversionsOption = None,
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
    unsigned_bigint: UnsignedBigintOption = None,
    target_file_size: TargetFileSizeOption = "64M",
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Keep a lake, and what is published of it, up to date with an archive that grows.

    A round reads what is new, up to the last whole event group of a file that is still written, and makes a version of
    all tables at that position; then it is published. A round that fails is told, and tried again after a while; what
    would stop a replica ends it. SIGTERM and Ctrl-C end it after the round; a killed one goes on where it was.

        applier sync --binlogs /backup --lake /lake/shop --every 10s
                     --iceberg sqlite:////lake/catalog.db --keep 7d

    --base and --schema are for the first version of a lake. -v prints the notes of each round, too.
    """
    from applier.jobs.lake.expiring import checked_keep
    from applier.jobs.sync.job import SyncOptions

    options = SyncOptions(
        ReplayOptions(
            binlogs=keyed(binlogs, keyring, key_file, key_file_secret),
            output="",
            lake=lake,
            base=base,
            schema=schema,
            filter=TableFilter(parse_table_list(tables or []), parse_table_list(ignore_tables or [])),
            rewrites=parse_rewrites(rewrite_db or []),
            exclude_gtids=exclude_gtids,
            server_ids=parse_server_ids(server_ids or []),
            ignore_server_ids=parse_server_ids(ignore_server_ids or []),
            exec_mode=exec_mode.value,
            type_conversions=parse_conversions(type_conversions or []),
            zero_dates=zero_dates.value,
            witness=witness.value,
            on_statement=on_statement.value,
            define_from_log=define_from_log,
            system_time_zone=system_time_zone,
            engine="local",
            file_bytes=parse_size(target_file_size),
            unsigned_bigint=None if unsigned_bigint is None else unsigned_bigint.value,
        ),
        every=parse_seconds(every),
        keep=None if keep is None else checked_keep(keep),
        iceberg=iceberg,
        warehouse=warehouse,
        delta=delta,
        change_data=change_data,
        until_now=until_now,
        health=tuple(health or ()),
    )
    _follow(options, json_log)


def _follow(options: SyncOptions, as_json: bool) -> None:
    """Do rounds, a line each, until a signal asks to end."""
    import signal

    from applier.jobs.sync.ending import Ending
    from applier.jobs.sync.job import sync as followed

    ending = Ending()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ending.ask)
    for done in followed(options, ending):
        if as_json:
            _print_document(done)
        else:
            _print_line(done)


def _print_document(done: Round) -> None:
    import json

    print(json.dumps({"at": _now()} | done.document()), flush=True)


def _print_line(done: Round) -> None:
    from applier.cli.loudness import Loudness, chosen
    from applier.cli.terminal import print_error
    from applier.io.printable import printable
    from applier.jobs.summary.words import counted

    if done.error is not None:
        print_error(done.error)
        return
    parts = [counted(done.changes, "change"), f"{counted(done.files_written, 'file')} written",
             f"{done.files_kept:,} kept"] if done.is_new else ["nothing new"]
    parts += [f"published in {published.catalog}" for published in done.published]
    parts += [f"{counted(done.expired, 'version')} expired"] if done.expired else []
    parts += [f"{done.seconds:.1f} s"] + ([] if done.lag is None else [f"lag {done.lag:.1f} s"])
    for note in done.notes if chosen() is Loudness.VERBOSE else ():
        print(printable(f"{_now()} {note}"))
    print(printable(f"{_now()} version {done.version} at {done.position}: {', '.join(parts)}"), flush=True)


def _now() -> str:
    """The local time, as logs have it."""
    from datetime import datetime

    return datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
