"""Finds rows by any key, or by content, in a row store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.index.pointer_kernel import ROW_GONE
from applier.apply.index.store.row_store import RowStore
from applier.apply.index.unit_index import Conflict, UnitIndex
from applier.apply.output.rows import RowGatherer
from applier.apply.search.row_keys import StoredChanges
from applier.apply.search.row_part_encoder import RowPartEncoder
from applier.apply.search.unit_search import IndexSearch
from applier.apply.spec import Stored, UnitSpec
from applier.binlog.rows.changes import ImageLayouts
from applier.columns.alter.scan_order import appends
from applier.columns.generated_columns import computed_of_images


class StoreSearch(IndexSearch[StoredChanges]):
    """The access method by several keys, or by content. Rows of a table without a key are written in the order of
    arrival. `gatherer` makes the reader of the rows that an index finds."""

    index: RowStore

    def __init__(self, spec: UnitSpec, rows: Stored, gatherer: Callable[[UnitIndex[Any]], RowGatherer]):
        self.parts = RowPartEncoder(spec.definition, by_content=rows.by_content, also=rows.also,
                                    time_zone=spec.time_zone)

        def rows_at(pointers: np.ndarray, columns: tuple[int, ...]) -> pa.Table:
            return gatherer(self.index).columns_at(pointers, columns)

        self.index = RowStore(len(spec.definition.columns), len(self.parts.parts),
                              [key.parts for key in self.parts.unique], clustered=self.parts.clustered,
                              idempotent=spec.idempotent, rows_at=rows_at)
        self.index.column_pointers.made_of = computed_of_images(spec.definition)
        self._found: Counter[str] = Counter()
        self._order, self._fills = self.parts.order, appends(spec.definition)

    def prepare(self, changes: StoredChanges, layouts: ImageLayouts) -> None:
        self.index.prepare(changes.batch, layouts, changes.before, changes.after, changes.access_paths,
                           changes.searches, changes.awaited)

    def finish_batch(self, changes: StoredChanges, conflict: Conflict | None) -> Conflict | None:
        batch, access_paths, noted = changes.batch, changes.access_paths, self.index.noted
        gone = noted[noted[:, 1] == ROW_GONE, 0]
        counts = np.bincount(access_paths[batch.before_rows[batch.before_rows >= 0]], minlength=len(changes.searches))
        counts -= np.bincount(access_paths[batch.before_rows[gone]], minlength=len(counts))
        for search, count in zip(changes.searches, counts.tolist(), strict=False):
            self._found[search.kind] += count
        return super().finish_batch(changes, conflict)

    @property
    def found(self) -> Counter[str]:
        return self._found

    def seed(self, rows: pa.Table) -> None:
        self.index.seed(rows.num_rows, self.parts.of_rows(rows))

    def order_by_arrival(self, before: int) -> None:
        """Set the table's order: by the parts of the primary key before number `before`, then by arrival, since that
        part is a number that each row gets at its arrival."""
        self._order = self.parts.unique[0].parts[:before]
        self.index.rank_by_arrival(self._order)

    def pointers(self) -> np.ndarray:
        return self.index.pointers(self._order)

    def ranks(self, before: np.ndarray) -> np.ndarray:
        n_added, first = self.index.arrived - len(before), before.max(initial=-1) + 1  # some of before may be gone
        numbers = self.index.places if self._fills else self.index.arrivals
        ranks: np.ndarray = np.concatenate([before, np.arange(first, first + n_added)])[numbers]
        return ranks
