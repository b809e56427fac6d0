"""Moves changes of XA transactions from the position where they were prepared to that of their XA COMMIT.

Prepared rows are locked, so a replica may apply them at once. Readers of changes see them when they
are committed, maybe many transactions later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from applier.jobs.changes.log import commits_of
from applier.plan.span import LogSpan


@dataclass(frozen=True)
class CommitOrder:
    """Puts changes in the order of commits. `prepared` are the parts of the log, by file, of groups that another group
    commits: int64[n, 2] of offsets, ascending."""

    prepared: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, span: LogSpan) -> CommitOrder:
        """Return the order of a span's commits."""
        found: dict[str, list[tuple[int, int]]] = {}
        for file, commits in commits_of(span).items():
            outline = span.outlines[file]
            found.setdefault(outline.name, []).extend((group.start, group.end) for group in outline.prepared
                                                      if group.start in commits)
        return cls({name: np.array(sorted(parts), np.int64) for name, parts in found.items()})

    def are_prepared(self, batch: pa.RecordBatch) -> np.ndarray:
        """Return which changes of a feed's batch are of such groups: bool[n]."""
        files, offsets = batch.column("_file"), batch.column("_pos").to_numpy()
        found = np.zeros(batch.num_rows, np.bool_)
        for number, name in enumerate(files.dictionary.to_pylist()):
            if (parts := self.prepared.get(name)) is not None:
                before = np.searchsorted(parts[:, 0], offsets, side="right") - 1
                inside = (before >= 0) & (offsets < parts[before, 1])
                found |= inside & (files.indices.to_numpy() == number)
        return found

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a feed's batches in the order of their commit versions. Prepared transactions wait in memory."""
        if not self.prepared:
            yield from batches
            return
        waiting: list[pa.RecordBatch] = []
        for batch in batches:
            are_prepared = self.are_prepared(batch)
            if are_prepared.any():
                waiting.append(batch.filter(pa.array(are_prepared)))
                batch = batch.filter(pa.array(~are_prepared))
            if not batch.num_rows:
                continue
            if waiting:
                last = _versions(batch)[-1]
                due = [_versions(one) < last for one in waiting]
                came = [one.filter(pa.array(is_due)) for one, is_due in zip(waiting, due, strict=True) if is_due.any()]
                waiting = [one.filter(pa.array(~is_due)) for one, is_due in zip(waiting, due, strict=True)
                           if not is_due.all()]
                if came:
                    yield from _sorted([*came, batch])
                    continue
            yield batch
        if waiting:
            yield from _sorted(waiting)


def _versions(batch: pa.RecordBatch) -> np.ndarray:
    versions: np.ndarray = batch.column("_commit_version").to_numpy()
    return versions


def _sorted(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    order = pa.array(np.argsort(np.concatenate([_versions(batch) for batch in batches]), kind="stable"))
    columns = [_together([batch.column(number) for batch in batches]).take(order)
               for number in range(batches[0].num_columns)]
    return [pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)]


def _together(columns: list[pa.Array]) -> pa.Array:
    """Concatenate columns. Dictionaries may have nulls, which Arrow does not unify."""
    kind = columns[0].type
    if not pa.types.is_dictionary(kind) or all(column.dictionary.equals(columns[0].dictionary) for column in columns):
        return pa.concat_arrays(columns)
    return pa.concat_arrays([column.cast(kind.value_type) for column in columns]).dictionary_encode()
