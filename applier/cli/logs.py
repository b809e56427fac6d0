"""`applier show`, `summary`, `locate`, `index` and `explain`: what is in binlogs, without replaying them."""

from enum import StrEnum
from typing import Annotated

import typer

from applier.cli.application import (
    IgnoreServerIdsOption,
    ServerIdsOption,
    StopDatetimeOption,
    StopGtidOption,
    StopPositionOption,
    app,
)
from applier.cli.documents import Json, explained_document, located_document, print_json
from applier.cli.keys import KeyFiles, KeyFileSecret, Keyrings, keyed
from applier.errors import UsageError
from applier.schema.table_filter import TableFilter, parse_table_list


def _named(binlogs: list[str] | None, unnamed: list[str] | None) -> list[str]:
    """The binlogs of --binlogs, and those that stand there without it, as older command lines have them."""
    if found := [*(binlogs or []), *(unnamed or [])]:
        return found
    raise UsageError("no binlogs are named", hint="give --binlogs PATH")


class Format(StrEnum):
    """How events are printed."""

    text = "text"
    json = "json"


@app.command()
def show(
    binlogs: Annotated[list[str] | None, typer.Option(
        metavar="PATH...", help="Binlog files, plain, .gz, .zst, .lz4 or .xz; directories, globs and index files stand "
                                "for all of theirs. Several may follow.")] = None,
    files: Annotated[list[str] | None, typer.Argument(metavar="PATH...", hidden=True)] = None,
    format: Annotated[Format, typer.Option(
        help="How they are printed. text: as `mysqlbinlog -v` prints them; json: one object a line.")] = Format.text,
    tables: Annotated[list[str] | None, typer.Option(
        "--tables", "--table", "--database", metavar="DB.TABLE,...",
        help="Only what concerns these tables; DB alone means the whole database.")] = None,
    gtids: Annotated[str | None, typer.Option(
        "--gtids", "--gtid", "--include-gtids", metavar="SET",
        help="Only these transactions: UUID:1-5,..., or 0-1-5,0-1-7.")]
        = None,
    exclude_gtids: Annotated[str | None, typer.Option(metavar="SET", help="All transactions but these.")] = None,
    server_ids: ServerIdsOption = None,
    ignore_server_ids: IgnoreServerIdsOption = None,
    start: Annotated[str | None, typer.Option(metavar="PLACE", hidden=True)] = None,
    stop: Annotated[str | None, typer.Option(metavar="PLACE", hidden=True)] = None,
    start_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Start at this position; POS alone is in the first file.")] = None,
    stop_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Stop at this position; POS alone is in the last file.")] = None,
    start_datetime: Annotated[str | None, typer.Option(
        metavar="TIME", help="Start at the first event group of this time or later, as --stop-datetime takes it.")]
        = None,
    stop_datetime: StopDatetimeOption = None,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Print events and row changes of binlog files. No schema is needed: columns are @1, @2, ...

    Takes options of mysqlbinlog by their names, too.

    In a file or a pipe, names and values are printed as they are; on a terminal, control characters are shown as \\x1b.
    """
    from applier.binlog.locating.group_choice import LeftOutGroups
    from applier.binlog.locating.gtid_choice import GtidChoice
    from applier.engine import compiling
    from applier.io.printable import standard_output
    from applier.jobs import show as printer
    from applier.jobs.show.selection import Selection, one_bound
    from applier.option_texts import parse_server_ids

    files = printer.binlogs(_named(binlogs, files))
    selection = Selection(
        one_bound("start", start, start_position, start_datetime, files[0]),
        one_bound("stop", stop, stop_position, stop_datetime, files[-1]),
        GtidChoice(gtids) if gtids else None,
        LeftOutGroups(GtidChoice(exclude_gtids) if exclude_gtids else None, parse_server_ids(server_ids or []),
                      parse_server_ids(ignore_server_ids or [])),
        TableFilter(parse_table_list(tables)) if tables else None)
    if not compiling.is_ready("show"):
        from applier.cli.terminal import progress

        with progress() as watcher:
            compiling.ensure("show", watcher)
    out = standard_output()
    notes = printer.show(list(keyed(files, keyring, key_file, key_file_secret)), format.value, out, selection)
    if notes:
        from applier.cli.terminal import print_note

        for note in notes:
            print_note(note)


@app.command()
def summary(
    binlogs: Annotated[list[str], typer.Option(
        metavar="PATH...", help="The archive, as `replay` takes it. Several may follow.")],
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means the whole database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    start_position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="Only event groups from this position on; a group must start there.")] = None,
    start_datetime: Annotated[str | None, typer.Option(
        metavar="TIME", help="Only transactions of this time or later, as --stop-datetime takes it.")] = None,
    stop_position: StopPositionOption = None,
    stop_gtid: StopGtidOption = None,
    stop_datetime: StopDatetimeOption = None,
    top: Annotated[int, typer.Option(metavar="NUMBER", help="How many of the largest transactions to list.")] = 10,
    json: Json = False,
    html: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write a page with plots; an existing file is replaced.")] = None,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Sum up what binlogs did: the largest transactions, rows by table, kind and time, DDL, and who.

    No schema is needed: rows are counted, not decoded. Times are of event groups, in UTC.

    Who deleted the orders last night?

        applier summary --binlogs /backup --tables shop.orders
                        --start-datetime '2026-03-14 00:00:00'
    """
    from applier.cli.summarized import print_summary, write_page
    from applier.cli.terminal import progress
    from applier.jobs.summary.job import summarize
    from applier.mysql.time_zones import parse_datetime
    from applier.option_texts import parse_stop_position
    from applier.options import SummaryOptions

    options = SummaryOptions(
        keyed(binlogs, keyring, key_file, key_file_secret),
        TableFilter(parse_table_list(tables or []), parse_table_list(ignore_tables or [])),
        None if start_position is None else parse_stop_position(start_position),
        None if start_datetime is None else parse_datetime(start_datetime),
        None if stop_position is None else parse_stop_position(stop_position), stop_gtid,
        None if stop_datetime is None else parse_datetime(stop_datetime), top)
    with progress() as watcher:
        found = summarize(options, watcher)
    if html is not None:
        write_page(found, html)
    print_summary(found, as_json=json)


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
    json: Json = False,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Find event groups: the file, the start and the end, without reading rows.

    Uses the heads of the files, or the archive's index if `applier index` has made one. `replay --stop-position` with
    the start stops before the group, with the end after it. By heads, a time is found where it should be if no clock
    went wrong; by the index it is exact.
    """
    from applier.api.logs import locate as find
    from applier.cli.located import print_located
    from applier.cli.terminal import progress
    from applier.mysql.time_zones import parse_time

    with progress() as watcher:
        found = find(keyed(binlogs, keyring, key_file, key_file_secret), gtid=gtid,
                     time=None if datetime is None else parse_time(datetime), xid=xid,
                     group_id=group_id, progress=watcher)
    if json:
        print_json(located_document(found))
    else:
        print_located(found)


@app.command()
def index(
    binlogs: Annotated[list[str] | None, typer.Option(
        metavar="DIR", help="A directory of binlogs; local or a URI.")] = None,
    directory: Annotated[str | None, typer.Argument(metavar="DIR", hidden=True)] = None,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Keep an index beside an archive, which makes `locate` faster.

    The index is checked against the files whenever it is used, and updated if it does not fit them.
    """
    from applier.binlog.locating import search
    from applier.cli.located import print_indexed
    from applier.cli.terminal import progress
    from applier.engine import compiling

    [place, *others] = _named(binlogs, None if directory is None else [directory])
    if others:
        raise UsageError(f"{place} and {others[0]} are two directories", hint="an index is made for one at a time")
    [archive] = keyed([place], keyring, key_file, key_file_secret)
    with progress() as watcher:
        compiling.ensure("outline", watcher)
        indexed = search.index(archive, watcher)
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
        metavar="DB.TABLE,...", help="Only these tables; DB alone means the whole database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    define_from_log: Annotated[bool, typer.Option(
        "--define-from-log", help="Define tables that nothing else defines by the log's metadata, as `replay` does.")]
        = False,
    json: Json = False,
    keyring: Keyrings = None,
    key_file: KeyFiles = None,
    key_file_secret: KeyFileSecret = None,
) -> None:
    """Say by which key a replay would find the rows of each table, and where definitions come from, without replaying.

    Reads headers, table maps and DDL only. Warns if a before-image may match a row other than the intended one, and if
    duplicates in a key cannot be found as the server finds them.
    """
    from applier.api.logs import explain as ask
    from applier.cli.explained import print_explained
    from applier.cli.terminal import progress

    with progress() as watcher:
        explained = ask(keyed(binlogs, keyring, key_file, key_file_secret), base=base,
                        schema=schema, tables=tables, ignore_tables=ignore_tables,
                        define_from_log=define_from_log, progress=watcher)
    if json:
        print_json(explained_document(explained.tables, explained.definitions))
    else:
        print_explained(explained.tables, explained.definitions)
