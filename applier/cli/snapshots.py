"""`applier status`, `report`, `views`: what a snapshot holds, how it was made, and ways to look at it."""

from enum import StrEnum
from typing import Annotated

import typer

from applier.cli.application import AsOfOption, app
from applier.cli.documents import Json, print_json, report_document, status_document
from applier.errors import UsageError


@app.command()
def status(
    snapshot: Annotated[str | None, typer.Argument(
        metavar="[SNAPSHOT]", help="A snapshot that `replay` made, or a lake.")] = None,
    as_of: AsOfOption = None,
    iceberg: Annotated[str | None, typer.Option(
        metavar="CATALOG", help="Instead of a snapshot: a catalog of Iceberg, as `publish` takes it.")] = None,
    delta: Annotated[str | None, typer.Option(
        metavar="DIR", help="Instead of a snapshot: a directory with tables of Delta, as `publish` takes it.")] = None,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables of a catalog.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
    definitions: Annotated[bool, typer.Option("--definitions", help="With the CREATE TABLE of each table.")] = False,
    json: Json = False,
) -> None:
    """Print the position of a snapshot, and what is in it; or where published tables stand, and by which snapshot of
    Iceberg or version of Delta a reader finds each.

    Checks that a snapshot's files are there and have the right size and number of rows; `verify` reads them.

        applier status /lake/shop --as-of '2026-03-14 10:30:00'
        applier status --delta /lake/delta --as-of binlog.000003:1234
    """
    from applier.cli.status import print_snapshot
    from applier.snapshot import manifest
    from applier.snapshot.checks import check_footers
    from applier.snapshot.shards import columns_of

    if snapshot is None:
        _print_published(iceberg, delta, as_of, tables, ignore_tables, json=json)
        return
    if iceberg is not None or delta is not None or tables or ignore_tables:
        raise UsageError("both a snapshot and published tables are given",
                         hint="name a snapshot or a lake, or give --iceberg or --delta, with --tables")
    loaded = manifest.load(version_of(snapshot, as_of))
    if json:
        print_json(status_document(loaded, definitions))
    else:
        print_snapshot(loaded, definitions)
    check_footers(loaded.root, [columns_of(files) for table in loaded.tables for files in table.lists])


def version_of(uri: str, as_of: str | None) -> str:
    """A snapshot, or the version of a lake as of a place."""
    from applier.option_texts import parse_place
    from applier.snapshot.as_of import version_as_of

    return uri if as_of is None else version_as_of(uri, parse_place(as_of))


def _print_published(iceberg: str | None, delta: str | None, as_of: str | None, tables: list[str] | None,
                     ignore_tables: list[str] | None, *, json: bool) -> None:
    import dataclasses

    from applier.api.publishing import published
    from applier.cli.status import print_published

    found = published(iceberg=iceberg, delta=delta, as_of=as_of, tables=tables, ignore_tables=ignore_tables)
    if json:
        print_json(dataclasses.asdict(found))
    else:
        print_published(found, "snapshot" if delta is None else "version")


@app.command()
def report(
    snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="A snapshot that `replay` made.")],
    html: Annotated[str | None, typer.Option(
        metavar="FILE", help="Write the report to this file, as one self-contained page with plots.")] = None,
    json: Json = False,
) -> None:
    """Print what the replay that made a snapshot did: changes by table, how rows were found, conflicts, and time."""
    from applier.cli.status import print_report
    from applier.jobs.report.loading import load_report

    loaded = load_report(snapshot)
    if json:
        print_json(report_document(loaded))
    elif html is None:
        print_report(loaded)
    if html is None:
        return
    from applier.io.new_output import new_output
    from applier.jobs.report.page import html_page

    page = html_page(loaded)
    with new_output(html, replaces=True) as partial, open(partial, "w", encoding="utf-8") as file:
        file.write(page)


class Dialect(StrEnum):
    """The SQL of views."""

    duckdb = "duckdb"
    spark = "spark"


@app.command()
def views(
    place: Annotated[str, typer.Argument(
        metavar="PLACE", help="A snapshot, or the directory of `changes --format parquet` or of `history`.")],
    as_of: AsOfOption = None,
    dialect: Annotated[Dialect, typer.Option(help="Whose SQL: DuckDB's, or Spark SQL's.")] = Dialect.duckdb,
    tables: Annotated[list[str] | None, typer.Option(
        metavar="DB.TABLE,...", help="Only these tables; DB alone means the whole database.")] = None,
    ignore_tables: Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")] = None,
) -> None:
    """Print SQL that makes a view of each table over its files, with the comments of columns.

    Over a snapshot's it has the table's name, over those of changes and versions NAME_changes and NAME_history. Over a
    history there is a function, too: NAME_as_of(SEQ) are the rows as they were after the commit with this number.

        applier views /lake/now | duckdb shop.duckdb
        applier views /lake/orders_history | duckdb shop.duckdb
        applier views /lake/now --dialect spark > views.sql
        applier views /lake/shop --as-of '2026-03-14 10:30:00' | duckdb then.duckdb
    """
    from applier.io.printable import print_lines
    from applier.jobs.views.job import views as made
    from applier.schema.table_filter import TableFilter, parse_table_list

    chosen = TableFilter(parse_table_list(tables or []), parse_table_list(ignore_tables or []))
    print_lines(made(version_of(place, as_of), dialect.value, chosen))
