"""`applier sql`: a query of snapshots, lakes, histories and changes."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from enum import StrEnum
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from applier.cli.application import AsOfOption, app
from applier.cli.snapshots import version_of

if TYPE_CHECKING:
    import duckdb


class ResultFormat(StrEnum):
    """How the rows of a query are written."""

    table = "table"
    json = "json"
    csv = "csv"
    parquet = "parquet"


_MOST_ROWS = 200
"""So many rows of a table are shown."""
_AT_ONCE = 1 << 20
_END = "\n\n"
"""What DuckDB writes before it shows the query again."""


@app.command()
def sql(
    place: Annotated[str, typer.Argument(
        metavar="PLACE", help="A snapshot, a lake, or the directory of `history` or of `changes --format parquet`.")],
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A query in DuckDB's SQL; - reads it from stdin.")],
    as_of: AsOfOption = None,
    also: Annotated[list[str] | None, typer.Option(
        metavar="NAME=PLACE", help="Another place, whose tables are NAME.DB.TABLE. It may be repeated.")] = None,
    format: Annotated[ResultFormat, typer.Option(
        help=f"How rows are written. table: the first {_MOST_ROWS}, to read; json: a line for each; csv: with a "
             "header; parquet: a file.")] = ResultFormat.table,
    output: Annotated[str | None, typer.Option(
        metavar="FILE", help="The file to write; json and csv go to stdout without it.")] = None,
) -> None:
    """Query a snapshot, a lake as of any version, a history or changes in SQL, with DuckDB (pip install duckdb).

    A table is DB.TABLE, or TABLE where no other database has one of its name.

        applier sql /lake/now 'SELECT status, count(*) FROM orders GROUP BY ALL'
        applier sql /lake/shop --as-of '2026-03-14 10:30:00' 'FROM shop.orders'
        applier sql /lake/now --also old=/lake/yesterday
                    'FROM shop.stock JOIN old.shop.stock USING (sku)'
    """
    from applier.api.querying import query as ask
    from applier.errors import UsageError
    from applier.io.new_output import new_output
    from applier.io.printable import print_lines, printable

    if (format is ResultFormat.table) != (output is None) and format in (ResultFormat.table, ResultFormat.parquet):
        raise UsageError(f"--format {format.value} goes to {'a file' if output is None else 'the terminal'}",
                         hint="give --output FILE" if output is None else "choose another format, or no --output")
    text = sys.stdin.read() if query == "-" else query
    with _errors_of_duckdb(place):
        found = ask(version_of(place, as_of), text, also=_places(also or []))
        if found is None:
            raise UsageError("this statement has no rows", hint="give a query: SELECT … or FROM …")
        if format is ResultFormat.table:
            print_lines(f"{printable(line)}\n" for line in _table(found))
        elif output is None:
            with TemporaryDirectory(prefix="applier-sql-") as folder:  # DuckDB writes to files alone
                _write(found, format, f"{folder}/rows")
                with open(f"{folder}/rows", "rb") as file:
                    print_lines(iter(partial(file.read, _AT_ONCE), b""))
        else:
            with new_output(output) as unfinished:
                _write(found, format, unfinished)


def _places(texts: list[str]) -> dict[str, str]:
    """The places of --also by their names."""
    from applier.errors import UsageError

    places: dict[str, str] = {}
    for text in texts:
        name, equals, place = text.partition("=")
        if not equals or not place or name in places:
            raise UsageError(f"--also {text}: it is not NAME=PLACE, each name once",
                             hint="--also before=/lake/yesterday")
        places[name] = place
    return places


def _table(rows: duckdb.DuckDBPyRelation) -> list[str]:
    """Rows as DuckDB draws them, in the width that other tables have."""
    from applier.cli.grids import result_console

    drawn, width = io.StringIO(), result_console().width
    with redirect_stdout(drawn):
        rows.show(max_rows=_MOST_ROWS, max_width=width)
    return drawn.getvalue().rstrip("\n").split("\n")


def _write(rows: duckdb.DuckDBPyRelation, format: ResultFormat, path: str) -> None:
    if format is ResultFormat.parquet:
        rows.write_parquet(path, compression="zstd")
    elif format is ResultFormat.csv:
        rows.write_csv(path, header=True)
    else:
        target = path.replace("'", "''")
        rows.query("result", f"COPY (FROM result) TO '{target}' (FORMAT json)")


@contextmanager
def _errors_of_duckdb(place: str) -> Iterator[None]:
    """Raise DuckDB's errors as ours: a query that it refuses, and a file that is damaged."""
    from applier.errors import SnapshotError, UsageError
    from applier.io.parquet_reading import DAMAGED_PAGE

    try:
        from duckdb import Error
    except ImportError:  # which the query itself reports
        yield
        return
    try:
        yield
    except Error as error:
        if DAMAGED_PAGE in str(error):
            raise SnapshotError("a file is damaged: a page has another checksum", file=place,
                                hint="`applier verify` names it") from None
        raise UsageError(f"DuckDB refuses the query: {str(error).strip().partition(_END)[0]}",
                         hint="`applier status` lists the tables; they are DB.TABLE, or NAME.DB.TABLE with --also"
                         ) from None
