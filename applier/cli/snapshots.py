"""`applier status`, `report`, `views`: what a snapshot holds, how it was made, and ways to look at it."""

from enum import StrEnum
from typing import Annotated

import typer

from applier.cli.application import app
from applier.cli.documents import Json, print_json, report_document, status_document


@app.command()
def status(
    snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="A snapshot that `replay` made.")],
    definitions: Annotated[bool, typer.Option("--definitions", help="With the CREATE TABLE of each table.")] = False,
    json: Json = False,
) -> None:
    """Print the position of a snapshot, and what is in it.

    Checks that its files are there and have the right size and number of rows; `verify` reads them.
    """
    from applier.cli.status import print_snapshot
    from applier.snapshot import manifest
    from applier.snapshot.checks import check_footers
    from applier.snapshot.shards import columns_of

    loaded = manifest.load(snapshot)
    if json:
        print_json(status_document(loaded, definitions))
    else:
        print_snapshot(loaded, definitions)
    check_footers(loaded.root, [columns_of(files) for table in loaded.tables for files in table.lists])


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
    from applier.jobs.report.page import html_page

    with open(html, "w", encoding="utf-8") as file:
        file.write(html_page(loaded))


class Dialect(StrEnum):
    """The SQL of views."""

    duckdb = "duckdb"
    spark = "spark"


@app.command()
def views(
    place: Annotated[str, typer.Argument(
        metavar="PLACE", help="A snapshot, or the directory of `changes --format parquet` or of `history`.")],
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
    """
    from applier.jobs.views.job import views as made
    from applier.schema.table_filter import TableFilter, parse_table_list

    chosen = TableFilter(parse_table_list(tables or []), parse_table_list(ignore_tables or []))
    for statement in made(place, dialect.value, chosen):
        print(statement, end="")
