"""The versions of rows in the order of their keys: keys are read first, and then rows in that order, so that
not all of them are in memory at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.table_key import IntKey, table_key
from applier.jobs.changes.columns import as_type
from applier.jobs.history.versions import Versions, begins_of, ends_of
from applier.mysql.zero_dates import as_nulls
from applier.schema.definition import TableDefinition
from keysearch.keybytes import KeyBytes


@dataclass(frozen=True)
class OfVersion:
    """One version of the table: its definition, the names in the history of the columns that are wanted, by their own
    names, and the versions of its rows."""

    definition: TableDefinition
    names: dict[str, str]
    rows: Versions


_ALL = 1 << 62


class Chunk:
    """Versions that come next: how they begin and end, and, of each of the table's versions that have some of them, the
    rows, and their order."""

    def __init__(self, words: np.ndarray, parts: Sequence[tuple[OfVersion, pa.Table]], order: np.ndarray) -> None:
        self.begins, self.ends, self._parts, self._order = begins_of(words), ends_of(words), parts, order

    def column(self, field: pa.Field) -> pa.Array:
        """A column of the table in the history; null where a version of the table lacks it."""
        arrays = list[pa.Array]()
        for of_version, rows in self._parts:
            own = next((own for own, name in of_version.names.items() if name == field.name), None)
            arrays += [pa.nulls(rows.num_rows, field.type)] if own is None else \
                [as_type(as_nulls(chunk), field.type) for chunk in rows.column(own).chunks]
        joined = arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
        return joined if len(self._parts) == 1 else joined.take(pa.array(self._order))


def in_key_order(parts: Sequence[OfVersion]) -> Iterator[Chunk]:
    """The versions by key, and of a row in the order of their beginning. Without a key, or where keys of the table's
    versions do not compare, those of one version of the table after the other, as they began."""
    order, starts = _order(parts), np.cumsum([0, *(len(part.rows) for part in parts)])
    words = parts[0].rows.words if len(parts) == 1 else np.concatenate([part.rows.words for part in parts])
    sources = []
    for number, part in enumerate(parts):
        places = np.arange(len(order)) if len(parts) == 1 else \
            np.flatnonzero((order >= starts[number]) & (order < starts[number + 1]))
        sources.append(_Source(part, order[places] - starts[number] if number else order[places], places))
    done = 0
    while done < len(order):
        for source in sources:
            source.fill()
        end = min(len(order), *(source.end for source in sources))
        taken = [(source.part, *source.take(end)) for source in sources if source.has_before(end)]
        places = np.concatenate([places for *_, places in taken]) - done
        inverse = np.empty(end - done, np.int64)
        inverse[places] = np.arange(end - done)
        yield Chunk(words.take(order[done:end], axis=0), [(part, rows) for part, rows, _ in taken], inverse)
        done = end


class _Source:
    """The rows of one version of the table, in this order; they are wanted at ascending `places`."""

    def __init__(self, part: OfVersion, order: np.ndarray, places: np.ndarray) -> None:
        self.part, self._places, self._done = part, places, 0
        columns = [*part.names] or [part.definition.stored_columns[0].name]  # one at least: its rows are counted
        self._chunks, self._rows = part.rows.rows(columns, order), pa.table({})

    def fill(self) -> None:
        """Have rows at hand, if there are any left."""
        while not self._rows.num_rows and self._done < len(self._places):
            self._rows = next(self._chunks)

    @property
    def end(self) -> int:
        """Up to which place the rows at hand go, where all others do."""
        after = self._done + self._rows.num_rows
        return int(self._places[after]) if after < len(self._places) else _ALL

    def has_before(self, end: int) -> bool:
        return self._done < len(self._places) and bool(self._places[self._done] < end)

    def take(self, end: int) -> tuple[pa.Table, np.ndarray]:
        """The rows before a place, and their places."""
        last = int(np.searchsorted(self._places, end))
        n, places = last - self._done, self._places[self._done:last]
        rows, self._rows, self._done = self._rows.slice(0, n), self._rows.slice(n), last
        return rows, places


def _order(parts: Sequence[OfVersion]) -> np.ndarray:
    """The order of all versions, over the versions of the table; by their keys where these compare."""
    n = sum(len(part.rows) for part in parts)
    keys = [table_key(part.definition) for part in parts]
    known = [key for key in keys if key is not None]
    if len(known) < len(parts) or len({(key.form, key.rules, key.bias if isinstance(key, IntKey) else 0)
                                       for key in known}) > 1:
        return np.arange(n)
    found = [key.of_rows(rows, part.definition.full_name) for key, part in zip(known, parts, strict=True)
             for rows in part.rows.rows(key.names)]
    if all(isinstance(keys, np.ndarray) for keys in found):
        return _stable_order(np.concatenate([np.empty(0, np.int64), *found]))
    texts = pa.chunked_array([keys.to_arrow() for keys in found if isinstance(keys, KeyBytes)], pa.large_binary())
    rows = pa.table({"key": texts, "place": np.arange(n)})
    order: np.ndarray = pc.sort_indices(rows, [(name, "ascending") for name in rows.column_names]).to_numpy()
    return order.astype(np.int64)


def _stable_order(keys: np.ndarray) -> np.ndarray:
    """The order of keys (int64[n]), of the same ones as they come. Where a key and its place go into one number, these
    numbers are sorted, which takes a tenth of the time."""
    n = len(keys)
    least, bits = int(keys.min(initial=0)), n.bit_length()
    if (int(keys.max(initial=0)) - least).bit_length() + bits > 63:
        return np.argsort(keys, kind="stable")
    order = keys - least
    order <<= bits
    order |= np.arange(n)
    order.sort()
    order &= (1 << bits) - 1
    return order
