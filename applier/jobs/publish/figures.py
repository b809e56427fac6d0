"""The figures of a publication, for monitoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from applier.io.resolver import join
from applier.jobs.publish.result import Published, PublishedTable
from applier.jobs.telemetry.figures import Figure, Outcome, Output
from applier.jobs.telemetry.run import telemetry
from applier.snapshot import lakes


def with_telemetry(publish: Callable[[], Published], snapshot: str, catalog: str, *, in_folders: bool,
                   metrics: Sequence[str] = (), lineage: str | None = None) -> Published:
    """Publish a snapshot, and write what that did; `in_folders`: each table is a folder DB/TABLE, as Delta's."""
    with telemetry("publish", (), catalog, metrics, lineage) as run:
        published = publish()
        run.did(outcome(published, lakes.root_of(snapshot), in_folders=in_folders))
    return published


def outcome(published: Published, root: str, *, in_folders: bool) -> Outcome:
    """Return what a publication of the tables of a snapshot or a lake at `root` did."""
    tables = published.tables
    changes = Counter(table.change for table in tables)
    figures = [
        *(Figure("tables", "gauge", "tables by what happened to them", count, {"change": change})
          for change, count in sorted(changes.items())),
        Figure("added_bytes", "gauge", "size of files that are new", sum(table.bytes_added for table in tables)),
        Figure("added_files", "gauge", "files that are new", sum(table.files_added for table in tables)),
        Figure("removed_files", "gauge", "files that were removed", sum(table.files_removed for table in tables))]
    changed = [table for table in tables if table.change not in ("unchanged", "dropped")]
    outputs = [Output(join(published.catalog, _folder(table)) if in_folders else published.catalog,
                      "" if in_folders else table.name, None, table.bytes_added, table.files_added)
               for table in changed]
    document = {
        "catalog": published.catalog, "position": published.position, "gtid_set": published.gtid_set,
        "tables": [{"table": table.name, "change": table.change, "files_added": table.files_added,
                    "bytes_added": table.bytes_added, "files_removed": table.files_removed} for table in tables]}
    return Outcome(tuple(figures), document, tuple(outputs), tuple(join(root, _folder(table)) for table in changed),
                   published.position, published.gtid_set)


def _folder(table: PublishedTable) -> str:
    return table.name.replace(".", "/", 1)
