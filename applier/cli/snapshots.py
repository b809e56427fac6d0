"""`applier status`, `report`, `views`: what a snapshot contains, how it was made, and ways to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from applier.cli.application import verb
from applier.errors import UsageError
from applier.options.verbs import REPORT, STATUS, VIEWS

if TYPE_CHECKING:
    from applier.jobs.compare import Comparison


@verb(STATUS)
def status(*, snapshot: str | None, as_of: str | None, binlogs: list[str] | None, definitions: bool, json: bool,
           keys: Any, **published: Any) -> None:
    """Print the position of a snapshot and its tables; or the position of published tables, and the Iceberg
    snapshot or Delta version of each.

    Checks that a snapshot's files exist and have the right size and number of rows; `verify` reads them.

        applier status /lake/shop --as-of '2026-03-14 10:30:00'
        applier status /lake/shop --binlogs /backup/binlogs
        applier status --delta /lake/delta --as-of binlog.000003:1234
    """
    from applier.cli.output.status import SNAPSHOT
    from applier.snapshot import manifest
    from applier.snapshot.files.checks import check_footers
    from applier.snapshot.files.shards import columns_of

    if snapshot is None and binlogs:
        raise UsageError("--binlogs needs a snapshot to compare with", hint="name a snapshot or a lake")
    if snapshot is None:
        _print_published(json, as_of=as_of, **published)
        return
    if any(published.values()):
        raise UsageError("both a snapshot and published tables are given",
                         hint="name a snapshot or a lake, or give --iceberg or --delta, with --tables")
    loaded = manifest.load(version_of(snapshot, as_of))
    SNAPSHOT.print(json, loaded, definitions, _compared(loaded.uri, binlogs, keys) if binlogs else None)
    check_footers(loaded.root, [columns_of(files) for table in loaded.tables for files in table.lists])


def _compared(uri: str, binlogs: list[str], keys: Any) -> Comparison:
    from applier.api.calls.job_options import logs
    from applier.cli.terminal import progress
    from applier.engine import compiling
    from applier.io.encryption.keys import Keys
    from applier.jobs.compare import compare

    with progress() as watcher:
        compiling.ensure("outline", watcher)
        return compare(uri, logs({"binlogs": binlogs, "keys": keys}), Keys())


def version_of(uri: str, as_of: str | None) -> str:
    """Return a snapshot, or the version of a lake as of a position."""
    from applier.option_texts import parse_place
    from applier.snapshot.as_of import version_as_of

    return uri if as_of is None else version_as_of(uri, parse_place(as_of))


def _print_published(json: bool, **arguments: Any) -> None:
    from applier.api.publishing import published
    from applier.cli.output.status import PUBLISHED

    PUBLISHED.print(json, published(**arguments), "snapshot" if arguments["delta"] is None else "version")


@verb(REPORT)
def report(*, snapshot: str, html: str | None, json: bool) -> None:
    """Print what the replay that made a snapshot did: changes by table, how rows were found, conflicts, and time."""
    from applier.cli.output.status import REPORT as REPORTED
    from applier.jobs.report.loading import load_report

    loaded = load_report(snapshot)
    if json or html is None:
        REPORTED.print(json, loaded)
    if html is None:
        return
    from applier.io.disk.new_files import new_output
    from applier.jobs.report.page import html_page

    page = html_page(loaded)
    with new_output(html, replaces=True) as partial, open(partial, "w", encoding="utf-8") as file:
        file.write(page)


@verb(VIEWS)
def views(*, place: str, as_of: str | None, dialect: str, tables: list[str] | None,
          ignore_tables: list[str] | None) -> None:
    """Print SQL that creates a view of each table over its files, with column comments.

    A snapshot's views have the tables' names, those of changes and versions are NAME_changes and NAME_history. A
    history also has a function: NAME_as_of(SEQ) returns the rows as of the commit with this number.

        applier views /lake/now | duckdb shop.duckdb
        applier views /lake/orders_history | duckdb shop.duckdb
        applier views /lake/now --dialect spark > views.sql
        applier views /lake/shop --as-of '2026-03-14 10:30:00' | duckdb then.duckdb
    """
    from applier.api.calls.arguments import table_filter
    from applier.io.printable import print_lines
    from applier.jobs.views.job import views as made

    chosen = table_filter(tables, ignore_tables)
    print_lines(made(version_of(place, as_of), dialect, chosen))
