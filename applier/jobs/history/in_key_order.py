"""The versions of rows in key order: keys are read first, and then rows in that order, so that
not all of them are in memory at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.table_key import IntKey, table_key
from applier.jobs.changes.columns import as_type
from applier.jobs.history.versions import Versions, stable_order
from applier.mysql.reader_values import as_shown
from applier.schema.definition import TableDefinition
from keysearch.keybytes import KeyBytes


@dataclass(frozen=True)
class OfVersion:
    """One version of the table: its definition, the names in the history of the wanted columns, by their own names, and
    the versions of its rows."""

    definition: TableDefinition
    names: dict[str, str]
    rows: Versions


_ALL = 1 << 62


class Chunk:
    """Versions that come next, by their edges; and, of each of the table's versions that have some of them, the rows.
    `order` says which row of all is next (None: as they come)."""

    def __init__(self, edges: np.ndarray, parts: Sequence[tuple[OfVersion, pa.Table]],
                 order: np.ndarray | None = None) -> None:
        self.edges, self._parts, self._order = edges, parts, order

    def column(self, field: pa.Field) -> pa.Array:
        """Return a column of the table in the history; null if a version of the table does not have it."""
        arrays = list[pa.Array]()
        for of_version, rows in self._parts:
            own = next((own for own, name in of_version.names.items() if name == field.name), None)
            arrays += [pa.nulls(rows.num_rows, field.type)] if own is None else \
                [as_type(as_shown(chunk, of_version.definition.column(own).type), field.type)
                 for chunk in rows.column(own).chunks]
        joined = arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
        return joined if self._order is None else joined.take(pa.array(self._order))


def in_key_order(parts: Sequence[OfVersion]) -> Iterator[Chunk]:
    """Yield the versions by key, and of a row in the order of their beginning. Without a key, or where keys of the
    table's versions do not compare, those of one version of the table after the other, as they began."""
    if len(parts) == 1:
        yield from _in_key_order(parts[0])
        return
    order, starts = _order(parts), np.cumsum([0, *(len(part.rows) for part in parts)])
    sources = []
    for number, part in enumerate(parts):
        numbers = np.flatnonzero((order >= starts[number]) & (order < starts[number + 1]))
        sources.append(_Source(part, order[numbers] - starts[number], numbers))
    done = 0
    while done < len(order):
        for source in sources:
            source.fill()
        end = min(len(order), *(source.end for source in sources))
        taken = [(source.part, *source.take(end)) for source in sources if source.has_before(end)]
        inverse = np.empty(end - done, np.int64)
        inverse[np.concatenate([numbers for *_, numbers in taken]) - done] = np.arange(end - done)
        edges = np.concatenate([edges for _, edges, *_ in taken])[inverse]
        yield Chunk(edges, [(part, rows) for part, _, rows, _ in taken], inverse)
        done = end


def _in_key_order(part: OfVersion) -> Iterator[Chunk]:
    """The same of one version of the table."""
    versions, done = part.rows if part.rows.by_key else part.rows.part(_order([part])), 0
    for rows in versions.rows(_columns(part)):
        yield Chunk(versions.edges[done:done + rows.num_rows], [(part, rows)])
        done += rows.num_rows


def _columns(part: OfVersion) -> list[str]:
    """Return the columns to read: at least one, since rows are counted."""
    return [*part.names] or [part.definition.stored_columns[0].name]


class _Source:
    """The rows of one version of the table, in this order; they are wanted at ascending `numbers`."""

    def __init__(self, part: OfVersion, order: np.ndarray, numbers: np.ndarray) -> None:
        self.part, self._versions, self._numbers, self._done = part, part.rows.part(order), numbers, 0
        self._chunks, self._rows = self._versions.rows(_columns(part)), pa.table({})

    def fill(self) -> None:
        """Have rows at hand, if there are any left."""
        while not self._rows.num_rows and self._done < len(self._numbers):
            self._rows = next(self._chunks)

    @property
    def end(self) -> int:
        """Return the output row up to which the current rows are complete, if those of all other versions are."""
        after = self._done + self._rows.num_rows
        return int(self._numbers[after]) if after < len(self._numbers) else _ALL

    def has_before(self, end: int) -> bool:
        return self._done < len(self._numbers) and bool(self._numbers[self._done] < end)

    def take(self, end: int) -> tuple[np.ndarray, pa.Table, np.ndarray]:
        """Return the edges of the versions before an output row, their rows, and their numbers in the output."""
        last = int(np.searchsorted(self._numbers, end))
        n, taken = last - self._done, slice(self._done, last)
        rows, self._rows, self._done = self._rows.slice(0, n), self._rows.slice(n), last
        return self._versions.edges[taken], rows, self._numbers[taken]


def _order(parts: Sequence[OfVersion]) -> np.ndarray:
    """Return the order of all versions, over the versions of the table; by their keys where these compare."""
    n = sum(len(part.rows) for part in parts)
    keys = [table_key(part.definition) for part in parts]
    known = [key for key in keys if key is not None]
    if len(known) < len(parts) or len({(key.form, key.rules, key.bias if isinstance(key, IntKey) else 0)
                                       for key in known}) > 1:
        starts = np.cumsum([0, *(len(part.rows) for part in parts)])
        return np.concatenate([start + np.argsort(part.rows.numbers)
                               for start, part in zip(starts.tolist(), parts, strict=False)])
    found = [key.of_rows(rows, part.definition.full_name) for key, part in zip(known, parts, strict=True)
             for rows in part.rows.rows(key.names)]
    if all(isinstance(keys, np.ndarray) for keys in found):
        return stable_order(np.concatenate([np.empty(0, np.int64), *found]))
    texts = pa.chunked_array([keys.to_arrow() for keys in found if isinstance(keys, KeyBytes)], pa.large_binary())
    rows = pa.table({"key": texts, "number": np.arange(n)})
    order: np.ndarray = pc.sort_indices(rows, [(name, "ascending") for name in rows.column_names]).to_numpy()
    return order.astype(np.int64)
