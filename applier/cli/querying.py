"""`applier sql`: query snapshots, lakes, histories and changes."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from applier.cli.application import verb
from applier.cli.snapshots import version_of
from applier.options.verbs import SQL

if TYPE_CHECKING:
    import duckdb


_MOST_ROWS = 200
"""The most rows of a table to show."""
_AT_ONCE = 1 << 20
_END = "\n\n"
"""The separator that DuckDB writes before it repeats the query."""


@verb(SQL)
def sql(*, place: str, sql: str, as_of: str | None, also: dict[str, str] | None, format: str,
        output: str | None) -> None:
    """Query a snapshot, a lake as of any version, a history or changes in SQL, with DuckDB (pip install duckdb).

    A table is DB.TABLE, or TABLE if no other database has one of its name.

        applier sql /lake/now 'SELECT status, count(*) FROM orders GROUP BY ALL'
        applier sql /lake/shop --as-of '2026-03-14 10:30:00' 'FROM shop.orders'
        applier sql /lake/now --also old=/lake/yesterday
                    'FROM shop.stock JOIN old.shop.stock USING (sku)'
    """
    from applier.api.querying import query as ask
    from applier.errors import UsageError
    from applier.io.disk.new_files import new_output
    from applier.io.printable import print_lines, printable

    if (format == "table") != (output is None) and format in ("table", "parquet"):
        raise UsageError(f"--format {format} goes to {'a file' if output is None else 'the terminal'}",
                         hint="give --output FILE" if output is None else "choose another format, or no --output")
    text = sys.stdin.read() if sql == "-" else sql
    with _errors_of_duckdb(place):
        found = ask(version_of(place, as_of), text, also=also)
        if found is None:
            raise UsageError("this statement has no rows", hint="give a query: SELECT … or FROM …")
        if format == "table":
            print_lines(f"{printable(line)}\n" for line in _table(found))
        elif output is None:
            with TemporaryDirectory(prefix="applier-sql-") as folder:  # DuckDB only writes to files
                _write(found, format, f"{folder}/rows")
                with open(f"{folder}/rows", "rb") as file:
                    print_lines(iter(partial(file.read, _AT_ONCE), b""))
        else:
            with new_output(output) as unfinished:
                _write(found, format, unfinished)


def _table(rows: duckdb.DuckDBPyRelation) -> list[str]:
    """Return rows as DuckDB draws them, in the width of other tables."""
    from applier.cli.output.grids import result_console

    drawn, width = io.StringIO(), result_console().width
    with redirect_stdout(drawn):
        rows.show(max_rows=_MOST_ROWS, max_width=width)
    return drawn.getvalue().rstrip("\n").split("\n")


def _write(rows: duckdb.DuckDBPyRelation, format: str, path: str) -> None:
    if format == "parquet":
        rows.write_parquet(path, compression="zstd")
    elif format == "csv":
        rows.write_csv(path, header=True)
    else:
        target = path.replace("'", "''")
        rows.query("result", f"COPY (FROM result) TO '{target}' (FORMAT json)")


@contextmanager
def _errors_of_duckdb(place: str) -> Iterator[None]:
    """Raise DuckDB's errors as ours: for an invalid query, and for a damaged file."""
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
