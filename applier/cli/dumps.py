"""`applier import` and `export`: dumps become snapshots, and snapshots files that a server loads."""

from enum import StrEnum
from typing import Annotated

import typer

from applier.cli.application import (
    AsOfOption,
    ConfOption,
    Engine,
    EngineOption,
    LakeOption,
    MasterOption,
    UnsignedBigint,
    app,
)
from applier.option_texts import parse_conf, parse_rewrites


class Flavour(StrEnum):
    """The server that a dump's SQL is for."""

    mysql = "mysql"
    mariadb = "mariadb"


@app.command(name="import")
def import_(
    dump: Annotated[str, typer.Argument(
        metavar="DUMP", help="A file of mysqldump or mariadb-dump, or any SQL file of CREATE TABLE and INSERT … "
                             "VALUES statements; plain, .gz or .zst; - for stdin. Or a directory made by "
                             "`mysqldump --tab`, `mariadb-dump --dir`, mydumper, MySQL Shell or `applier export`. "
                             "Local or a URI.")],
    output: Annotated[str | None, typer.Option(
        metavar="SNAPSHOT", help="The snapshot to make; must not exist yet.")] = None,
    lake: LakeOption = None,
    schema: Annotated[str | None, typer.Option(
        metavar="FILE.sql", help="CREATE TABLEs of tables whose rows are Parquet files: DUMP is then a directory of "
        "DB/TABLE/….parquet or DB.TABLE.parquet.")] = None,
    position: Annotated[str | None, typer.Option(
        metavar="FILE:POS", help="The binlog position of the dump, if it does not name it itself.")] = None,
    gtid_set: Annotated[str | None, typer.Option(
        metavar="SET", help="The transactions that the dump contains, if it does not name them itself.")] = None,
    group_id: Annotated[int | None, typer.Option(
        metavar="ID", help="The id of the last event group in the dump, of a server whose events have such ids.")
        ] = None,
    flavour: Annotated[Flavour | None, typer.Option(
        help="The server that the dump is from, if it does not say so itself.")] = None,
    default_character_set: Annotated[str | None, typer.Option(
        metavar="NAME", help="The character set of the dump's text, as latin1, if the dump does not say it, as with "
                             "--skip-set-charset and --compatible; by default utf8mb4.")] = None,
    system_time_zone: Annotated[str | None, typer.Option(
        metavar="ZONE", help="The time zone of the dump's server, as +02:00 or Europe/Rome: TIMESTAMPs of dumps with "
                             "--skip-tz-utc are in it, and such dumps do not name it.")] = None,
    unsigned_bigint: Annotated[UnsignedBigint, typer.Option(
        help="What BIGINT UNSIGNED is in files: decimal, of 20 digits; long, where a value from 2^63 on stops the "
             "import; uint64, which not every reader has.")] = UnsignedBigint.decimal,
    target_file_size: Annotated[str, typer.Option(
        metavar="SIZE", help="About how large new files become, as 64M or 1G. An increment writes again each file that "
                             "has a changed row; many small files are slower to read.")] = "64M",
    database: Annotated[str | None, typer.Option(
        metavar="NAME", help="The database of a dump of one, as of `mysqldump NAME`, where its header does not say "
                             "it.")] = None,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means the whole database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
) -> None:
    """Make a snapshot from a logical dump, for `replay --base` to go on from.

    It stands at the dump's position (from --source-data, --master-data, or its GTIDs), or, if the dump has none, before
    the first binlog that is replayed on it.

        mysqldump --single-transaction --source-data=2 --all-databases > d.sql
        applier import d.sql --output /lake/base
        applier replay --base /lake/base --binlogs /backup --output /lake/now
    """
    from applier.api.dumping import import_dump
    from applier.cli.status import print_imported
    from applier.cli.terminal import progress

    with progress() as watcher:
        imported = import_dump(
            dump, output, lake=lake, schema=schema, position=position, gtid_set=gtid_set, group_id=group_id,
            flavour=None if flavour is None else flavour.value, system_time_zone=system_time_zone,
            unsigned_bigint=unsigned_bigint.value, target_file_size=target_file_size, tables=tables,
            ignore_tables=ignore_tables, database=database, default_character_set=default_character_set,
            progress=watcher)
    print_imported(imported.report)


class Format(StrEnum):
    """The format in which rows are written."""

    sql = "sql"
    tsv = "tsv"


@app.command()
def export(
    snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="What `replay` or `import` made.")],
    output: Annotated[str, typer.Option(metavar="DIR", help="The directory to make; must not exist yet.")],
    as_of: AsOfOption = None,
    format: Annotated[Format, typer.Option(
        help="How they are written. "
             "sql: INSERT statements; tsv: files for LOAD DATA, with the statements for it.")] = Format.sql,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means the whole database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    rewrite_db: Annotated[list[str] | None, typer.Option(
        metavar="OLD=NEW,...", help="The snapshot's database OLD is NEW on the server.")] = None,
    no_data: Annotated[bool, typer.Option("--no-data", help="Only the definitions.")] = False,
    data_only: Annotated[bool, typer.Option("--data-only", help="Only the rows.")] = False,
    if_not_exists: Annotated[bool, typer.Option(
        "--if-not-exists", help="Keep tables that exist on the server; else they are an error.")] = False,
    replace: Annotated[bool, typer.Option(
        "--replace", help="Replace the server's rows that have the same keys; else they are an error, and with tsv "
                          "they stay, with a warning.")] = False,
    where: Annotated[str | None, typer.Option(
        metavar="SQL", help="Only rows for which this expression on a table's columns is true, as \"id > 5\".")] = None,
    engine: EngineOption = Engine.auto,
    master: MasterOption = None,
    conf: ConfOption = None,
) -> None:
    """Write a snapshot as files that a server of its kind loads, definitions included.

        applier export /lake/before --output /restore
        applier export /lake/shop --as-of '2026-03-14 10:30:00' --output /then
        sh /restore/_load.sh -h HOST -u USER -p

    Every file has the session settings that it needs, so after the definitions (_schema.sql) the others may be
    loaded in parallel.
    """
    from applier.api.dumping import export as write
    from applier.api.snapshots import Snapshot
    from applier.cli.status import print_exported
    from applier.cli.terminal import progress

    with progress() as watcher:
        files = write(snapshot if as_of is None else Snapshot(snapshot, as_of), output, format=format.value,
                      tables=tables, ignore_tables=ignore_tables, rewrite_db=dict(parse_rewrites(rewrite_db or [])),
                      definitions=not data_only, rows=not no_data, if_not_exists=if_not_exists, replace=replace,
                      where=where, engine=engine.value, master=master, conf=dict(parse_conf(conf or ())),
                      progress=watcher)
    print_exported(output, sum(file.rows for file in files), len(files), sum(file.bytes for file in files))
