"""`diff`: the differences between two snapshots, or between a snapshot and a later position."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Unpack

from applier.api.calls.arguments import (
    KeyNames,
    PathLike,
    Paths,
    Place,
    Tables,
    Time,
    Watcher,
    point,
    table_filter,
    uri,
    watcher,
)
from applier.api.calls.job_options import logs
from applier.api.calls.public import public
from applier.api.replaying import replay
from applier.api.snapshots import Snapshot
from applier.errors import UsageError
from applier.io.encryption.keys import Keys
from applier.jobs.diff.result import Compared
from applier.options import DiffOptions
from applier.options.verbs import DIFF

if TYPE_CHECKING:
    from applier.jobs.guarded_sql.repair import Repair


class Diff(Compared):
    """The differences between two snapshots.

    >>> found = applier.diff("lake/earlier", "lake/now")
    >>> found.same, sum(table.differing for table in found.tables.values())
    (False, 2550)
    >>> with open("forward.sql", "wb") as file:
    ...     file.writelines(found.sql())
    """

    def json_lines(self) -> Iterator[bytes]:
        """Yield JSON lines: for each table that differs one with counts, followed by one per row."""
        from applier.jobs.diff.json_lines import json_lines

        return json_lines(self)

    def repair(self, *, definitions: bool = False) -> Repair:
        """Return the effects of `sql`, and the differences that it does not repair.

        >>> found = applier.diff("lake/earlier", "lake/now")
        >>> repair = found.repair()
        >>> repair.rows["shop.orders"], repair.not_repaired, repair.destroyed
        ((15, 475, 186), (), ())
        """
        from applier.jobs.guarded_sql.repair import Repair

        return Repair(self, definitions=definitions)

    def sql(self, *, definitions: bool = False) -> Iterator[bytes]:
        """Yield the statements that turn a server's tables from their state before into that after.

        They change only rows, each found by all of its values, in one transaction. With `definitions`, they also drop
        and create tables; `repair` lists what is destroyed, and what stays different.
        """
        return self.repair(definitions=definitions).statements()


@public(DIFF)
def diff(
    before: PathLike | Snapshot,
    after: PathLike | Snapshot | None = None,
    *,
    binlogs: Paths | None = None,
    stop: Place | Time | None = None,
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Diff:
    """Find the differences between two snapshots.

    >>> found = applier.diff("lake/earlier", "lake/now")
    >>> orders = found.tables["shop.orders"]
    >>> orders.removed, orders.added, orders.changed
    (15, 475, 186)
    >>> orders.to_pandas().query("_change_type == 'delete'")["id"].tolist()[:3]
    [574, 622, 911]

    {arguments}

    Rows are matched by key, as the server compares keys; their values are compared byte for byte. In a
    table without a key, equal rows match, counting repeated rows. A column that only one side has is NULL on
    the other. Files that both snapshots share are not read. For a system-versioned table, current rows are compared.

    Raises SnapshotError for a missing or damaged file, and the errors of `replay`.
    """
    from applier.jobs.diff import job

    if (after is None) == (binlogs is None) or (after is not None and stop is not None):
        raise UsageError("a diff compares a snapshot with another one, or with its state after more binlogs",
                         hint="give either another snapshot, or --binlogs")
    if stop is not None:
        point(stop)
    archive = () if binlogs is None else logs(locals())
    filter, watch = table_filter(tables, ignore_tables), watcher(progress)
    begun = before if isinstance(before, Snapshot) else Snapshot(before)
    if after is not None:
        return _public(job.diff(DiffOptions(begun.uri, uri(after), filter), watch))
    folder = TemporaryDirectory(prefix="applier-diff-", ignore_cleanup_errors=True)
    made = replay(archive, f"{folder.name}/after", base=begun, stop=stop, progress=watch)
    return _public(job.diff(DiffOptions(begun.uri, made.snapshot.uri, filter), watch, (folder,)))


def _public(found: Compared) -> Diff:
    return Diff(found.before, found.after, found.tables)
