"""The command line: one verb a job. Nothing slow is imported before a verb needs it.

Exit codes: 0 done; 1 the replay stopped as a replica would (the data says no); 2 bad usage or unreadable input.
"""

import atexit
import os
import sys
from enum import StrEnum
from typing import Annotated, NoReturn

import typer

from applier import __version__
from applier.errors import ApplierError
from applier.options import (
    ExplainOptions,
    ImportOptions,
    ReplayOptions,
    TableFilter,
    parse_conversions,
    parse_datetime,
    parse_rewrites,
    parse_stop_position,
    parse_table_list,
)

INTERNAL_ERROR = 70  # EX_SOFTWARE of sysexits.h: a defect, which is none of the three documented codes
INTERRUPTED = 130

app = typer.Typer(
    name="applier", add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Turns an archive of MySQL or MariaDB binlogs into an exact Parquet snapshot of its tables, at any time.",
    epilog="Exit codes: 0 done; 1 the replay stopped as a replica would; 2 bad usage or unreadable input.",
)


class ExecMode(StrEnum):
    """What happens to a row that is not there, or a key that is there twice."""

    strict = "strict"
    idempotent = "idempotent"


class Route(StrEnum):
    """How a unit of work gets its row changes."""

    auto = "auto"
    walk = "walk"
    shuffle = "shuffle"


class ZeroDates(StrEnum):
    """What '0000-00-00' becomes."""

    null = "null"
    error = "error"


class OnStatement(StrEnum):
    """What becomes of a change that came as a statement, not as rows."""

    error = "error"
    skip = "skip"


class Flavour(StrEnum):
    """Whose SQL a dump is."""

    mysql = "mysql"
    mariadb = "mariadb"


class Format(StrEnum):
    """How events are printed."""

    text = "text"
    json = "json"


@app.callback(invoke_without_command=True)
def _applier(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(f"applier {__version__}")
        raise typer.Exit


@app.command()
def replay(
    binlogs: Annotated[list[str], typer.Option(
        metavar="PATH...", help="The archive: a directory, files, a glob in quotes, or an index file; local or a uri "
        "(s3://, gs://, hdfs://). Several may follow.")],
    output: Annotated[str, typer.Option(metavar="SNAPSHOT", help="The snapshot to make; must not exist yet.")],
    base: Annotated[str | None, typer.Option(metavar="SNAPSHOT", help="Start from what this snapshot holds.")] = None,
    schema: Annotated[str | None, typer.Option(
        metavar="FILE.sql", help="CREATE TABLEs of tables that exist, empty, before the first binlog.")] = None,
    exec_mode: Annotated[ExecMode, typer.Option(
        help="strict: stop where a row is not there (1032) or a key is there twice (1062). idempotent: an insert takes "
        "the place of rows in its way; updates and deletes that cannot be made are passed over.")] = ExecMode.strict,
    type_conversions: Annotated[list[str] | None, typer.Option(
        metavar="NAME,...", help="Which columns of the log may have another type than the table's (of --base or "
        "--schema), as replica_type_conversions says: all_non_lossy, all_lossy; all_unsigned to read integers as "
        "such.")] = None,
    start_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Apply event groups from this place on, whatever comes before and wherever the base "
        "stands; it must be where a group starts. The report says which transactions are left out.")] = None,
    stop_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Apply event groups that end at or before this place.")] = None,
    stop_gtid: Annotated[str | None, typer.Option(
        metavar="SET", help="Stop after the group with which all of this GTID set is executed.")] = None,
    stop_datetime: Annotated[str | None, typer.Option(
        metavar="TIME", help="Stop before the first group of this time or later, as '2026-03-14 10:30:00' (local time) "
        "or with an offset ('2026-03-14T10:30:00+00:00').")] = None,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means all of a database. `*` and `?` are wildcards, "
        "and so are `%` and, beside a `%`, `_`, as in replicate-wild-do-table (`\\_` is an underscore).")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    rewrite_db: Annotated[list[str] | None, typer.Option(
        metavar="OLD=NEW,...", help="Databases of the log that have another name here, in rows and DDL, before "
        "--tables and --ignore-tables look at them; --schema and --base have the new names.")] = None,
    zero_dates: Annotated[ZeroDates, typer.Option(
        help="A zero date becomes null and is counted, or stops the replay.")] = ZeroDates.null,
    on_statement: Annotated[OnStatement, typer.Option(
        help="INSERT, UPDATE, LOAD DATA and the like as text, which a row applier cannot apply: error stops there; "
        "skip leaves them out, and the report counts them by table. What they changed is then not in the snapshot.")]
        = OnStatement.error,
    route: Annotated[Route, typer.Option(
        help="walk: each task reads the binlogs for its own tables; shuffle: they are decoded once and sent to the "
        "tasks; auto: whichever moves fewer bytes.")] = Route.auto,
    master: Annotated[str | None, typer.Option(
        metavar="URL", help="Spark master, as spark://host:7077. Default: all cores of this machine.")] = None,
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
    """
    options = ReplayOptions(
        binlogs=tuple(binlogs),
        output=output,
        base=base,
        schema=schema,
        start_position=None if start_position is None else parse_stop_position(start_position),
        stop_position=None if stop_position is None else parse_stop_position(stop_position),
        stop_gtid=stop_gtid,
        stop_datetime=None if stop_datetime is None else parse_datetime(stop_datetime),
        filter=TableFilter(parse_table_list(tables or []), parse_table_list(ignore_tables or [])),
        rewrites=parse_rewrites(rewrite_db or []),
        exec_mode=exec_mode.value,
        type_conversions=parse_conversions(type_conversions or []),
        route=route.value,
        zero_dates=zero_dates.value,
        on_statement=on_statement.value,
        master=master,
    )
    from applier.spark import nursery, session

    session.boot(master)  # Java boots while the rest is imported
    from applier import replay as job
    from applier.spark import executor  # noqa: F401  (it shall be in the fork)
    from applier.status import print_result
    from applier.terminal import progress

    if session.is_local(master):
        nursery.start()  # before there is a thread, as progress on a terminal is one
    with progress() as watcher:
        result = job.replay(options, watcher)
    print_result(result)


@app.command(name="import")
def import_(
    dump: Annotated[str, typer.Argument(
        metavar="DUMP.sql", help="A file of mysqldump or mariadb-dump, or any SQL file of CREATE TABLE and INSERT … "
        "VALUES statements; plain, .gz or .zst; local or a uri.")],
    output: Annotated[str, typer.Option(metavar="SNAPSHOT", help="The snapshot to make; must not exist yet.")],
    position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Where in the binlogs the dump was made, if it does not say so itself.")] = None,
    gtid_set: Annotated[str | None, typer.Option(
        metavar="SET", help="The transactions that the dump has, if it does not say so itself.")] = None,
    flavour: Annotated[Flavour | None, typer.Option(
        help="The server that the dump is for, if it does not say so itself.")] = None,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means all of a database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
) -> None:
    """Make a snapshot out of a logical dump, for `replay --base` to go on from.

    It stands at the dump's position (of --source-data, --master-data, or its GTIDs), or, where a dump says none, before
    the first binlog that is replayed on it.

        mysqldump --single-transaction --source-data=2 --all-databases > d.sql
        applier import d.sql --output /lake/base
        applier replay --base /lake/base --binlogs /backup --output /lake/now
    """
    from applier.importing.job import import_dump
    from applier.status import print_imported
    from applier.terminal import progress

    options = ImportOptions(
        dump, output, None if position is None else parse_stop_position(position), gtid_set,
        None if flavour is None else flavour.value,
        TableFilter(parse_table_list(tables or []), parse_table_list(ignore_tables or [])))
    with progress() as watcher:
        result = import_dump(options, watcher)
    print_imported(result)


@app.command()
def status(snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="A snapshot that `replay` made.")]) -> None:
    """Say at which position a snapshot stands, and what is in it."""
    from applier.snapshot import manifest
    from applier.status import print_snapshot

    print_snapshot(manifest.load(snapshot))


@app.command()
def report(
    snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="A snapshot that `replay` made.")],
    html: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write it to this file as one page with plots, which needs nothing else.")] = None,
) -> None:
    """Say what the replay that made a snapshot did: changes by table, how rows were found, conflicts, and time."""
    from applier.report.loading import load_report
    from applier.status import print_report

    loaded = load_report(snapshot)
    if html is None:
        print_report(loaded)
        return
    from applier.report.page import html_page

    with open(html, "w", encoding="utf-8") as file:
        file.write(html_page(loaded))


@app.command()
def show(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Binlog files.")],
    format: Annotated[Format, typer.Option(
        help="text: as `mysqlbinlog -v` prints them; json: one object a line.")] = Format.text,
) -> None:
    """Print events and row changes of binlog files. Needs no schema: columns are @1, @2, ..."""
    from applier import show as printer

    printer.show(files, format.value, sys.stdout)


@app.command()
def locate(
    binlogs: Annotated[list[str], typer.Option(
        metavar="PATH...", help="The archive, as `replay` takes it. Several may follow.")],
    gtid: Annotated[str | None, typer.Option(
        metavar="GTID", help="The transaction with this GTID: UUID:5, UUID:tag:5, 0-1-5.")] = None,
    datetime: Annotated[str | None, typer.Option(
        metavar="TIME", help="The first event group of this time or later, where `replay --stop-datetime` stops.")]
        = None,
    xid: Annotated[int | None, typer.Option(
        metavar="NUMBER", help="The transactions with this number in their XID event.")] = None,
    group_id: Annotated[int | None, typer.Option(
        metavar="NUMBER", help="The group with this id, in logs whose events have them.")] = None,
) -> None:
    """Say in which file an event group is, and where it starts and ends, without reading rows.

    Goes by the heads of the files, or, where `applier index` has made one, by the archive's index. The start is a place
    for `replay --stop-position`, to stop before the group; with the end it is replayed, too. By heads, a time is where
    it should be if no clock went wrong; by the index it is exact.
    """
    from applier.locating import search
    from applier.locating.targets import target_of
    from applier.locating.text import print_located
    from applier.terminal import progress

    target = target_of(gtid, datetime, xid, group_id)
    with progress() as watcher:
        found = search.locate(binlogs, target, watcher)
    print_located(found)


@app.command()
def index(directory: Annotated[str, typer.Argument(metavar="DIR", help="A directory of binlogs; local or a uri.")]
          ) -> None:
    """Keep an index beside an archive, which `locate` then goes by.

    It is checked against the files whenever it is used, and brought to date where it does not fit them.
    """
    from applier.locating import search
    from applier.locating.text import print_indexed
    from applier.terminal import progress

    with progress() as watcher:
        indexed = search.index(directory, watcher)
    print_indexed(indexed)


@app.command()
def explain(
    binlogs: Annotated[list[str], typer.Option(
        metavar="PATH...", help="The archive, as `replay` takes it. Several may follow.")],
    base: Annotated[str | None, typer.Option(metavar="SNAPSHOT", help="The snapshot that a replay would start from.")]
        = None,
    schema: Annotated[str | None, typer.Option(
        metavar="FILE.sql", help="CREATE TABLEs of tables that exist before the first binlog.")] = None,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means all of a database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
) -> None:
    """Say by which key a replay would find the rows of each table, and why, without replaying.

    Reads headers, table maps and DDL only. Warns where a before-image may match another row than the one that was
    meant, and where a key's duplicates cannot be told as the server tells them.
    """
    from applier.explain.job import explain as job
    from applier.explain.text import print_explained
    from applier.terminal import progress

    options = ExplainOptions(tuple(binlogs), base, schema,
                             TableFilter(parse_table_list(tables or []), parse_table_list(ignore_tables or [])))
    with progress() as watcher:
        explained = job(options, watcher)
    print_explained(explained)


def main(argv: list[str]) -> int:
    """Run one command line, `argv` without the program's name, in this process; returns the exit code.

    Errors that a person can act on are printed to stderr, never raised.
    """
    try:
        code = app(args=_spread_binlogs(argv), prog_name="applier", standalone_mode=False)
    except typer.TyperException as error:
        error.show()
        return 2
    except ApplierError as error:
        _print_error(error)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader, such as `head`, has what it wants
        return 0
    except OSError as error:
        _print_error(_unreadable(error))
        return 2
    return code if isinstance(code, int) else 0


def console() -> None:
    """The console script: a defect must not look like one of the documented exit codes."""
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception:
        import traceback

        traceback.print_exc()
        code = INTERNAL_ERROR
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process at once, after what was registered for its end: taking the interpreter to pieces, with its
    kernels and mapped logs, costs most of a second, and the system takes back all of it anyway."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _spread_binlogs(argv: list[str]) -> list[str]:
    """`--binlogs A B` as `--binlogs A --binlogs B`: what a shell makes of an unquoted glob."""
    spread: list[str] = []
    taking, first = False, False
    for word in argv:
        if word.startswith("-") or not taking:
            taking = first = word == "--binlogs"
            spread.append(word)
        else:
            spread += [word] if first else ["--binlogs", word]
            first = False
    return spread


def _unreadable(error: OSError) -> ApplierError:
    """An error of a file system as one of ours; some file systems of pyarrow give a text and no parts."""
    if error.strerror is None:
        return ApplierError(str(error))
    file = error.filename.decode(errors="replace") if isinstance(error.filename, bytes) else error.filename
    return ApplierError(error.strerror, file=None if file is None else str(file))


def _print_error(error: ApplierError) -> None:
    from applier.terminal import print_error

    print_error(error)
