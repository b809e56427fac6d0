"""`applier publish`: publish a snapshot's tables in a lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from applier.cli.application import verb
from applier.options.verbs import PUBLISH

if TYPE_CHECKING:
    from applier.jobs.publish.result import Published


@verb(PUBLISH)
def publish(**arguments: Any) -> None:
    """Update published tables to those of a snapshot, without writing a row: the snapshot's own files are registered.

    A later snapshot of the same line replaces only the files that changed, and removes tables that were dropped. In
    Iceberg, renamed columns and tables keep their identity, and in a SQL catalog all tables change at once; in
    a REST catalog with multi-table commits, all rows. Delta tables change one after the other, and
    `_applier.json` beside them says whether all are at one position.

        applier publish /lake/now --iceberg sqlite:////lake/catalog.db
        applier publish /lake/shop --iceberg glue --tag daily --expire 7d
        applier publish /lake/now --delta /lake/delta
    """
    from applier.api.publishing import publish as published

    _tell(published(**arguments))


def _tell(published: Published) -> None:
    from applier.cli.output.grids import Grid, result_console

    grid = Grid("table", "", "files", "files new", "MB new", "files gone", less=("files gone",))
    for table in published.tables:
        known = f", was {table.renamed_from}" if table.renamed_from else ""
        columns = ", its columns too" if table.columns_changed else ""
        grid.add(table.name, table.change + known + columns, table.files, table.files_added,
                table.bytes_added / 1e6, table.files_removed)
    console = result_console()
    grid.print(console)
    how = "all tables at once" if published.together else "tables made, dropped or renamed first, then all rows at " \
        "once" if published.rows_together else "one table after the other"
    gone = sum(table.snapshots_expired for table in published.tables)
    expired = f", {gone:,} snapshot{'s' * (gone != 1)} expired" if gone else ""
    console.say(f"{published.catalog} stands at {published.position}, {how}{expired}, {published.seconds:.1f} s")
