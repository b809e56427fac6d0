"""How the rows of a unit are found: by the one key that also orders and divides them, or in a row store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.index.key_index import ByteIndex, Conflict, IntIndex, KeyIndex
from applier.apply.index.pointer_kernel import ROW_GONE
from applier.apply.index.row_store import RowStore
from applier.apply.index.watched_rows import WatchedRows
from applier.apply.output.rows import RowGatherer
from applier.apply.search.change_keys import KeyReader
from applier.apply.search.conflicts import ConflictReader, conflict_rows
from applier.apply.search.row_keys import RowKeys
from applier.apply.search.row_pieces import RowPartEncoder
from applier.apply.spec import Keyed, Stored, UnitSpec
from applier.binlog.rows.changes import UPDATE, ChangeBatch, ImageLayouts
from applier.columns.generated_columns import computed_of_images


class UnitSearch(ABC):
    """An index of a unit's rows, and what it takes to fill it, to empty it and to tell what it met."""

    index: KeyIndex

    def apply(self, batch: ChangeBatch, layouts: ImageLayouts, keys: tuple[Any, ...]) -> Conflict | None:
        """Apply a batch, given its keys as the index takes them."""
        return self.index.apply(batch, layouts, *keys)

    @property
    @abstractmethod
    def found(self) -> Counter[str]:
        """How many rows were found in which way (keysearch.choose.Choice.kind), so far."""

    def suppressed_conflicts(self, table: str, batch: ChangeBatch, reader: ConflictReader) -> list[pa.Table]:
        """What the last batch of a table (db.table) met that idempotent mode passes over, as conflicts.CONFLICTS."""
        noted = self.index.noted
        return [conflict_rows(table, batch, noted, reader)] if len(noted) else []

    @abstractmethod
    def seed(self, rows: pa.Table) -> None:
        """Put in the rows that are there before the first change."""

    @abstractmethod
    def pointers(self) -> np.ndarray:
        """Pointers to the rows that are left, int64[n], in the order in which they are written."""

    @abstractmethod
    def key_text(self, batch: ChangeBatch, conflict: Conflict, reader: KeyReader | RowKeys) -> str:
        """The key of the change that could not be applied, for people."""


class KeySearch(UnitSearch):
    """By one key, in one key range of the table."""

    def __init__(self, spec: UnitSpec, rows: Keyed):
        self._key, columns, self._table = rows.key, len(spec.definition.columns), spec.definition.full_name
        kind = IntIndex if rows.key.form == "int" else ByteIndex
        self.index = kind(columns, rows.low, rows.high, idempotent=spec.idempotent)
        self.index.patches.made_of = computed_of_images(spec.definition)
        self._matched_but_suppressed = self._first_given = 0

    def apply(self, batch: ChangeBatch, layouts: ImageLayouts, keys: tuple[Any, ...]) -> Conflict | None:
        conflict = super().apply(batch, layouts, keys)
        noted = self.index.noted
        if len(noted):
            matched = (batch.kinds[noted[:, 0]] == UPDATE) & (noted[:, 1] != ROW_GONE)
            self._matched_but_suppressed += int(matched.sum())
        return conflict

    @property
    def found(self) -> Counter[str]:
        return Counter({self._key.choice.kind: self.index.updated + self.index.deleted + self._matched_but_suppressed})

    def watch(self, rows: WatchedRows) -> None:
        """Rows that are to come may wait for what foreign keys do to them."""
        self.index.watched = rows

    def seed(self, rows: pa.Table) -> None:
        watched, self._first_given = self.index.watched, rows.num_rows
        pointers = np.arange(rows.num_rows) if watched is None else watched.base_pointers(rows)
        self.index.seed(self._key.of_rows(rows, self._table), pointers)

    def pass_events(self) -> int:
        """Have everything happen that foreign keys do; to how many rows they did something in all. No change comes
        afterwards."""
        self.index.watched.finish()
        return self.index.watched.made

    def pointers(self) -> np.ndarray:
        pointers, watched = self.index.pointers(), self.index.watched
        if watched is None:
            return pointers
        return watched.resolved(pointers, self.index.patches, self.index.patches_used, self._first_given)

    def key_text(self, batch: ChangeBatch, conflict: Conflict, reader: KeyReader | RowKeys) -> str:
        rows = batch.after_rows if conflict.duplicate else batch.before_rows
        return f"{self._key} = {reader.text(batch, int(rows[conflict.change]), conflict.duplicate)}"


class StoreSearch(UnitSearch):
    """By any key, or by what rows hold; rows of a table without a key are written in the order in which they came.
    `gatherer` makes what reads the values of rows that are found."""

    def __init__(self, spec: UnitSpec, rows: Stored, gatherer: Callable[[], RowGatherer]):
        self.pieces = RowPartEncoder(spec.definition, by_content=rows.by_content, also=rows.also)
        self.index = RowStore(len(spec.definition.columns), len(self.pieces.pieces),
                              [key.pieces for key in self.pieces.unique], clustered=self.pieces.clustered,
                              idempotent=spec.idempotent)
        self.index.patches.made_of = computed_of_images(spec.definition)
        self.index.rows_at = lambda pointers, columns: gatherer().columns_at(pointers, columns)
        self._found: Counter[str] = Counter()
        self._order = self.pieces.order

    def apply(self, batch: ChangeBatch, layouts: ImageLayouts, keys: tuple[Any, ...]) -> Conflict | None:
        self.prepare(batch, layouts, keys)
        conflict = self.index.run(batch)
        self.settle(batch, keys)
        return conflict

    def prepare(self, batch: ChangeBatch, layouts: ImageLayouts, keys: tuple[Any, ...]) -> None:
        """Give the store a batch, for kernels to apply."""
        self.index.prepare(batch, layouts, *keys)

    def settle(self, batch: ChangeBatch, keys: tuple[Any, ...]) -> None:
        """Note what came of a batch that was given."""
        self.index.settle(batch)
        _, _, access_paths, searches, _ = keys
        noted = self.index.noted
        gone = noted[noted[:, 1] == ROW_GONE, 0]
        counts = np.bincount(access_paths[batch.before_rows[batch.before_rows >= 0]], minlength=len(searches))
        counts -= np.bincount(access_paths[batch.before_rows[gone]], minlength=len(counts))
        for search, count in zip(searches, counts.tolist(), strict=False):
            self._found[search.kind] += count

    @property
    def found(self) -> Counter[str]:
        return self._found

    def seed(self, rows: pa.Table) -> None:
        self.index.seed(rows.num_rows, self.pieces.of_rows(rows))

    def order_by_arrival(self, before: int) -> None:
        """The table's own order, from part number `before` of the primary key on, is that in which rows come, since
        that part is a number that each gets then."""
        self._order = self.pieces.unique[0].pieces[:before]
        self.index.rank_by_arrival(self._order)

    def pointers(self) -> np.ndarray:
        return self.index.pointers(self._order)

    def key_text(self, batch: ChangeBatch, conflict: Conflict, reader: KeyReader | RowKeys) -> str:
        if conflict.duplicate:
            return reader.key_text(batch, int(batch.after_rows[conflict.change]), True, self.index.unique_met)
        return reader.found_by(batch, int(batch.before_rows[conflict.change]))
