"""The command line as a whole; each module of verbs adds its own to it."""

from enum import StrEnum
from typing import Annotated

import typer

from applier import __version__
from applier.cli.verbs import Application, Verbs

app = Application(
    name="applier", cls=Verbs, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False,
    rich_markup_mode=None, context_settings={"help_option_names": ["--help", "-h"]},
    help="Turns binlogs of MySQL or MariaDB into exact Parquet snapshots, at any time.",
    epilog="Exit codes: 0 done; 1 it stopped as a replica would; 2 bad usage or input.",
)


class Engine(StrEnum):
    """Where tasks run."""

    auto = "auto"
    local = "local"
    spark = "spark"


EngineOption = Annotated[Engine, typer.Option(
    help="Where tasks run. "
         "local: threads of this process; spark: Spark's tasks; auto: spark where --master names one, where files are "
         "far, or where the work takes longer than Spark's start.")]
MasterOption = Annotated[str | None, typer.Option(
    metavar="URL", help="Spark master, as spark://host:7077, or a Spark Connect server, as sc://host:15002. "
    "Default: all cores of this machine.")]
ConfOption = Annotated[list[str] | None, typer.Option(
    "--conf", metavar="NAME=VALUE", help="A setting of Spark, as spark.executor.memory=2g; may be given several "
    "times. It wins over spark-defaults.conf.")]


class UnsignedBigint(StrEnum):
    """What files have for BIGINT UNSIGNED."""

    decimal = "decimal"
    long = "long"
    uint64 = "uint64"


class Route(StrEnum):
    """How a unit of work gets its row changes."""

    auto = "auto"
    walk = "walk"
    shuffle = "shuffle"


RouteOption = Annotated[Route, typer.Option(
    help="How tasks get their changes. "
         "walk: each task reads the binlogs for its own tables; shuffle: binlogs are decoded once and changes are sent "
         "to the tasks; auto: the cheaper of the two.")]
UnsignedBigintOption = Annotated[UnsignedBigint | None, typer.Option(
    help="What BIGINT UNSIGNED is in files: decimal, of 20 digits; long, where a value from 2^63 on stops the replay; "
         "uint64, which not every reader has. By default as in --base, or decimal.")]
PassBytesOption = Annotated[str | None, typer.Option(
    metavar="SIZE", help="Replay about this much log at a time, as 500G: each pass goes on from what the one before "
    "made, which bounds memory and temporary disk. The snapshot holds the same. By default as much as this machine "
    "has room for.")]
SnapshotAtOption = Annotated[list[str] | None, typer.Option(
    metavar="FILE:POS,...|SET", help="Several snapshots in one pass: one at each of these positions, as "
    "--stop-position takes them, or where this GTID set is complete. --output is then the folder that holds them, each "
    "named after its position, for example binlog.000003-1234. May be given several times.")]
LakeOption = Annotated[str | None, typer.Option(
    metavar="LAKE", help="Make the next version of this lake, not --output: a folder whose versions share the files "
    "that did not change. A replay goes on from the latest version; a new lake is made.")]
StopPositionOption = Annotated[str | None, typer.Option(
    metavar="FILE:POS", help="Event groups that end at or before this position.")]
StopGtidOption = Annotated[str | None, typer.Option(
    metavar="SET", help="Stop after the group that completes this GTID set.")]
StopDatetimeOption = Annotated[str | None, typer.Option(
    metavar="TIME", help="Stop before the first group of this time or later: '2026-03-14 10:30:00' (local time), "
    "with an offset ('2026-03-14T10:30:00+02:00') or UTC behind it; or so long ago (-90s, -5m, -1h, -2d, -1w).")]
AsOfOption = Annotated[str | None, typer.Option(
    metavar="PLACE", help="The last version that stands at or before this place in the log: a GTID set, FILE:POS, or a "
    "time as --stop-datetime takes it.")]
ExcludeGtidsOption = Annotated[str | None, typer.Option(
    metavar="SET", help="Leave these transactions out, as a replica does whose gtid_executed has them: UUID:1-5,..., "
    "or 0-1-5,0-1-7. What depends on them stops the replay, or is listed in idempotent mode. The snapshot says what it "
    "lacks.")]
ServerIdsOption = Annotated[list[str] | None, typer.Option(
    "--server-ids", "--server-id", metavar="N,...", help="Only transactions that come from these servers.")]
IgnoreServerIdsOption = Annotated[list[str] | None, typer.Option(
    metavar="N,...", help="No transactions that come from these servers, as IGNORE_SERVER_IDS of CHANGE REPLICATION "
    "SOURCE.")]
DefineFromLogOption = Annotated[bool, typer.Option(
    "--define-from-log", help="Define tables that nothing else defines by the log's metadata, as `replay` does.")]


@app.callback(invoke_without_command=True)
def _applier(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(f"applier {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())
        raise typer.Exit(2)
