"""Finds the missing columns of an archive's images by applying the archive, to make images full.

    the log is applied to the base → steps of rows (pointers) → the bytes missing in the images of each change → a file

A column's bytes are those of the last image that had it. If no image had it, they are made from the replay's
value, if that determines them (cells).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import IO

import numpy as np

from applier.apply.output.row_steps import Causes, give_back, take_steps
from applier.apply.routes.task import steps, table_walks
from applier.apply.tables.table_walk import TableWalk
from applier.apply.tables.unit import UnitApplier
from applier.apply.tasks import ApplyTask
from applier.binlog.rows.changes import ChangeBatch
from applier.binlog.rows.same_bytes import SameBytes
from applier.jobs.changes.whole.related_tables import closure, only, related
from applier.jobs.changes.whole.whole_rows import check
from applier.jobs.rewrite.kernels import records as r
from applier.jobs.rewrite.lacking import Lacking
from applier.jobs.rewrite.table_images import stays
from applier.mysql.wire_types import WireType
from applier.plan.cascades import cascades_of
from applier.plan.span import LogSpan, Wanted
from applier.plan.tasks import log_segments
from applier.plan.units import changed_versions, divide
from applier.plan.used_tables import UsedTable, used_tables
from applier.schema.history.history import SchemaHistory
from applier.snapshot.manifest import Snapshot
from keysearch.addresses import address_of

NO_FILLS = np.empty(0, r.FILL)


class Completion:
    """Applies the log to a base, and keeps the missing parts of images of wanted tables in `file`, by files of the log
    (by number) and versions of tables: columns, if they are to be `full`, and with `documents` those that diffs make.
    Raises the errors of a replay."""

    def __init__(self, span: LogSpan, history: SchemaHistory, base: Snapshot | None, file: IO[bytes],
                 wanted: Wanted, *, full: bool, documents: bool) -> None:
        self._wanted, self._full, self._documents = wanted, full, documents
        self._file, self._used, self._of_file, self._stay = file, 0, 0, set[str]()
        self._parts: dict[tuple[int, int], list[tuple[np.ndarray, int]]] = defaultdict(list)
        self._lacking: dict[int, Lacking] = {}
        task = self._task(span, history, base)
        walks = table_walks(task, {})
        for version, walk in walks.items():
            if not stays(walk.units[0].spec.definition):
                walk.trace(partial(self._take, version, walk))
        with SameBytes() as outlined:
            for segment in steps(task, walks, outlined):
                check(walks)
                self._of_file = segment.file
        check(walks)
        file.flush()
        self._memory = np.memmap(file, np.uint8, "r") if self._used else np.empty(0, np.uint8)

    def fills(self, number: int | None, version: int) -> np.ndarray:
        """Return the missing parts of images of a version of a table in a file: FILL[n], by position."""
        if number is None or (number, version) not in self._parts:
            return NO_FILLS
        parts = []
        for fills, start in self._parts[number, version]:
            part = fills.copy()
            part["at"] += address_of(self._memory) + start
            parts.append(part)
        found = np.concatenate(parts)
        return found[np.argsort(found["position"], kind="stable")]  # prepared transactions are applied later

    @property
    def notes(self) -> list[str]:
        """Return notes about parts that images still do not have, by tables."""
        unknown: dict[str, dict[str, int]] = defaultdict(dict)
        for lacking in self._lacking.values():
            for column, changes in lacking.unknown.items():
                known = unknown[lacking.table]
                known[column] = known.get(column, 0) + changes
        lists = {table: ", ".join(f"{column} ({n:,} change{'s' * (n != 1)})" for column, n in columns.items())
                 for table, columns in sorted(unknown.items())}
        return [*(f"{table}: images stay as they are: it has VIRTUAL columns, or system versioning, which a replica "
                  "does not compute" for table in sorted(self._stay)),
                *(f"{table}: images still lack {columns}, which neither the log nor the base tells to the byte"
                  for table, columns in lists.items())]

    def _take(self, version: int, walk: TableWalk, units: Sequence[UnitApplier], batch: ChangeBatch | None,
              causes: Causes) -> None:
        """Keep the missing parts of a batch's images while the previous rows exist."""
        made = take_steps(units, batch, causes)
        if batch is not None and walk.bound is not None:
            reading = walk.bound.reading
            if version not in self._lacking:
                self._lacking[version] = Lacking(reading, full=self._full, documents=self._documents)
            for fills, data in self._lacking[version].of_batch(batch, made, units):
                self._parts[self._of_file, version].append((fills, self._used))
                self._file.write(data)
                self._used += len(data)
        give_back(units, made)

    def _task(self, span: LogSpan, history: SchemaHistory, base: Snapshot | None) -> ApplyTask:
        """Return a task that applies the changes of tables whose images have missing parts, and of those on which they
        depend."""
        names = set()
        for table in used_tables(span, history, self._wanted):
            if (self._full and table.use.has_partial_images) or (self._documents and _may_have_diffs(table)):
                for version in table.versions:
                    if stays(version.definition):
                        self._stay.add(version.definition.full_name)
                    names |= closure(history, (version.definition.database, version.definition.name), related)
        used = used_tables(span, history, only(*names))
        cascades = cascades_of(history, used, idempotent=False, compressed=span.has_compressed_rows, traced=True)
        planned = changed_versions(used, history, cascades)
        divide(planned, base, None, None, idempotent=False, cascades=cascades)
        return ApplyTask({item.version.id: tuple(item.units) for item in planned}, tuple(log_segments(span, planned)))


def _may_have_diffs(table: UsedTable) -> bool:
    """Return whether some after-image may have a JSON diff."""
    documents = [number for number, kind in enumerate(table.table_map.types) if kind == WireType.JSON]
    return bool(documents) and (table.use.has_diffs or any(table.use.after_columns >> number & 1
                                                           for number in documents))
