"""Makes the access method that the plan of a unit chose: the only place that distinguishes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from applier.apply.index.unit_index import UnitIndex
from applier.apply.output.rows import RowGatherer
from applier.apply.search.change_keys import change_keys
from applier.apply.search.key_search import KeySearch
from applier.apply.search.multiset_search import MultisetSearch, WholeImages
from applier.apply.search.row_keys import RowKeys
from applier.apply.search.row_part_encoder import RowPartEncoder
from applier.apply.search.store_search import StoreSearch
from applier.apply.search.unit_search import TakenBatch, UnitSearch
from applier.apply.spec import ImageMultiset, KeyRange, NotSearched, RowSearch, Stored, UnitSpec
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeBatch, ImageLayouts
from applier.binlog.rows.layout import ColumnPlan
from applier.io.mapping import MappedFile
from applier.schema.definition import TableDefinition

_NO_CHANGES = "changes of a version that the plan has none for"


class BatchReader(Protocol):
    """Reads the search keys of a table's batches. `raw_diffs` and `before_images` are requests to the walk
    (TableBinding)."""

    @property
    def raw_diffs(self) -> bool: ...
    @property
    def before_images(self) -> bool: ...

    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        """Return the columns to decode from each image."""

    def of_batch(self, batch: ChangeBatch) -> TakenBatch:
        """Return a batch in the form that units take."""


def batch_reader(search: RowSearch, definition: TableDefinition, table_map: TableMap, layouts: ImageLayouts,
                 time_zone: str) -> BatchReader:
    """Return the reader of a table's batches; `time_zone` as in UnitSpec. Raises ValueError for a version without
    changes in the log."""
    def row_keys(rows: Stored) -> RowKeys:
        return RowKeys(RowPartEncoder(definition, by_content=rows.by_content, also=rows.also, time_zone=time_zone),
                       table_map, layouts)

    match search:
        case KeyRange():
            return change_keys(search.key, definition, table_map)
        case Stored():
            return row_keys(search)
        case ImageMultiset():
            return WholeImages(row_keys(Stored(by_content=True)))
        case NotSearched():
            raise ValueError(_NO_CHANGES)


def unit_search(spec: UnitSpec, files: list[MappedFile],
                gatherer: Callable[[UnitIndex[Any]], RowGatherer]) -> UnitSearch[Any]:
    """Return the access method of a unit, without rows. `files` is the memory of images so far, a list that grows;
    `gatherer` makes the reader of the rows that an index finds. Raises ValueError as `batch_reader`."""
    match spec.search:
        case KeyRange():
            return KeySearch(spec, spec.search)
        case Stored():
            return StoreSearch(spec, spec.search, gatherer)
        case ImageMultiset():
            return MultisetSearch(spec, files, gatherer)
        case NotSearched():
            raise ValueError(_NO_CHANGES)
