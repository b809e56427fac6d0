"""Keys of changes, from the outlines' samples of rows events, and the bounds of ranges that divide them.

In a table with a base, a range begins where a file does, so that files without changes in their range are carried over,
and at keys of the log between the files and after them, where most tables grow. A file is divided only if many
changes are to keys in it: it is rewritten in any case then, and each of its units reads it for its own rows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, Generic, overload

import numpy as np
import pyarrow as pa
from sortedcontainers import SortedDict

from applier.apply.search.change_keys import ByteKeys, IntKeys, change_keys
from applier.apply.tables.logged_table import LoggedTable
from applier.binlog.events.format import EventType
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeBatch, ChangeReader, TableBinding
from applier.columns.table_key import BytesKey, IntKey, TableKey, Value
from applier.columns.type_conversions import NONE_ALLOWED, TypeConversions
from applier.errors import ApplierError, ReplayStopped
from applier.io.mapping import MappedFile
from applier.plan.used_tables import UsedTable
from applier.schema.definition import TableDefinition
from applier.snapshot.file_entries import FileEntry, KeyValue
from keysearch.addresses import address_of

MOST_SAMPLES, SAMPLES_A_RANGE = 2048, 32
"""The most samples of a table that are decoded, in all and for each range: enough for thousands of ranges, and no more
work for a larger archive."""
KEYS_A_SAMPLE = 8
_GUARD = bytes(64)


class SampledKeys(Generic[Value]):
    """Keys that changes have, ascending, given with a weight each: how many bytes of rows events it stands for."""

    def __init__(self, weighed: list[tuple[Value, float]]):
        weighed.sort()
        self._keys: list[Value] = [key for key, _ in weighed]
        self._sums = [0.0, *accumulate(weight for _, weight in weighed)]

    def bounds(self, n: int) -> list[Value]:
        """Up to n - 1 ascending keys, the lower bounds of ranges that divide the keys evenly into n, or into as many as
        there are keys."""
        keys = self._keys
        n = min(n, len(keys))
        found = sorted({keys[i * len(keys) // n] for i in range(1, n)})
        return [bound for bound in found if bound > keys[0]]

    def part_within(self, low: Value, high: Value) -> float:
        """The part, 0 to 1, of the bytes of all changes that have keys from `low` to `high`."""
        first, end = self._places(low, high)
        return (self._sums[end] - self._sums[first]) / self._sums[-1] if end > first else 0.0

    def bounds_within(self, low: Value, high: Value, n: int) -> set[Value]:
        """Up to n - 1 keys above `low` and up to `high`, the lower bounds of ranges that divide the bytes of changes
        there evenly into n."""
        first, end = self._places(low, high)
        step = (self._sums[end] - self._sums[first]) / n
        places = (bisect_left(self._sums, self._sums[first] + number * step, first, end) for number in range(1, n))
        return {key for key in map(self._keys.__getitem__, (min(place, end - 1) for place in places)) if key > low}

    def _places(self, low: Value, high: Value) -> tuple[int, int]:
        return bisect_left(self._keys, low), bisect_right(self._keys, high)


@overload
def sampled_keys(uses: list[UsedTable], definition: TableDefinition, key: IntKey, n: int,
                 allowed: TypeConversions = ...) -> SampledKeys[int]: ...
@overload
def sampled_keys(uses: list[UsedTable], definition: TableDefinition, key: BytesKey, n: int,
                 allowed: TypeConversions = ...) -> SampledKeys[bytes]: ...
def sampled_keys(uses: list[UsedTable], definition: TableDefinition, key: TableKey, n: int,
                 allowed: TypeConversions = NONE_ALLOWED) -> SampledKeys[int] | SampledKeys[bytes]:
    """Keys of the rows sampled in `uses`, as many as `n` ranges need; one range needs none."""
    wanted = uses if n > 1 else []
    match key:
        case IntKey():
            return SampledKeys(_Sampled[int](definition, key, key.listed, allowed).keys(wanted, n))
        case BytesKey():
            return SampledKeys(_Sampled[bytes](definition, key, key.listed, allowed).keys(wanted, n))


class _Sampled(Generic[Value]):
    """Up to KEYS_A_SAMPLE keys of each sample of a table, each with its part of the sampled event's bytes."""

    def __init__(self, definition: TableDefinition, key: TableKey, listed: Callable[[Any], list[Value]],
                 allowed: TypeConversions):
        self._definition, self._key, self._allowed = definition, key, allowed
        self._listed: Callable[[Any], list[Value]] = listed
        self._found: list[tuple[Value, float]] = []
        self._of_event: list[Value] = []
        self._bindings: list[TableBinding] = []

    def keys(self, uses: list[UsedTable], n: int) -> list[tuple[Value, float]]:
        """Those of the samples of all uses of the table, or of as many of them, evenly chosen, as n ranges need."""
        n_samples = sum(sum(used.sample_counts()) for used in uses)
        step, before = 1 + n_samples // min(MOST_SAMPLES, SAMPLES_A_RANGE * n), 0
        by_body: dict[bytes, list[bytes]] = {}
        for used in uses:
            for place, count in enumerate(used.sample_counts()):
                if -before % step < count:
                    by_body.setdefault(used.use.body, []).extend(used.samples(place)[-before % step::step])
                before += count
        for body, samples in by_body.items():
            self._read(body, samples)
        return self._found

    def _read(self, body: bytes, samples: list[bytes]) -> None:
        self._bindings.clear()
        file, places = _as_file(body, samples)
        reader = ChangeReader(file, self._bind, checksum=False)
        for (start, end), event in zip(places, [body, *samples], strict=True):
            self._of_event = []
            with suppress(ApplierError):  # truncated within a row: earlier rows count
                reader.walk(start, end)
            with suppress(ApplierError):  # a key that stops the replay, when it comes to it
                reader.flush()
            for binding in self._bindings:
                binding.batch.reset()
            length = int.from_bytes(event[9:13], "little")
            self._found += [(key, length / len(self._of_event)) for key in self._of_event]

    def _bind(self, table_map: TableMap) -> TableBinding | None:
        try:
            reading = LoggedTable(self._definition, self._allowed, same_columns=False).bind_table_map(table_map)
        except ReplayStopped:
            return None  # rows of another version of the table; otherwise the apply task reports the difference
        keys = change_keys(self._key, self._definition, table_map)
        wanted = keys.wanted(reading.plans)
        self._bindings.append(TableBinding(reading.plans, wanted, wanted, partial(self._take, keys)))
        return self._bindings[-1]

    def _take(self, keys: IntKeys | ByteKeys, batch: ChangeBatch) -> None:
        columns = keys.columns(batch)[batch.n_after > 0]
        images, n = (batch.after, batch.n_after) if batch.n_after else (batch.before, batch.n_before)
        picks = _spread(n)
        for column in (images.columns[column] for column in self._key.columns):
            if column.has_nulls:  # what is behind a sample's last row may be read as one with NULLs
                picks = picks[np.asarray(column.arrow(n).is_valid())[picks]]
        chosen = columns if len(picks) == n else [column.take(pa.array(picks)) for column in columns]
        self._of_event += self._listed(self._key.encode(chosen))


@lru_cache(1024)
def _spread(n: int) -> np.ndarray:
    """The numbers of KEYS_A_SAMPLE rows of n, or of all, evenly chosen."""
    return np.unique(np.linspace(0, n - 1, KEYS_A_SAMPLE).astype(np.int64))


def _as_file(body: bytes, samples: list[bytes]) -> tuple[MappedFile, list[tuple[int, int]]]:
    """A table map and the beginnings of rows events, as a file of events; and where these are in it."""
    data, places = bytearray(), []
    for kind, event in [(EventType.TABLE_MAP, bytes(25) + body), *((sample[4], sample) for sample in samples)]:
        start = len(data)
        data += event
        data[start + 4] = kind
        data[start + 9:start + 13] = len(event).to_bytes(4, "little")
        data[start + 19:start + 25] = bytes(6)
        places.append((start, len(data)))
    array = np.frombuffer(bytes(data) + _GUARD, np.uint8)
    return MappedFile("samples", len(array), array, address_of(array)), places


HOT_BYTES = 64 << 20
"""The least bytes of rows events for a unit of a file that is divided. A unit more reads the file once more: 0.25 s of
CPU for 3 million rows in 13 MB, as long as it takes to apply 100 MB."""


def lows(keys: SampledKeys[Value], files: Sequence[FileEntry], kind: type[Value], n: int, n_bytes: int,
         unit_bytes: int) -> list[Value]:
    """The lower bounds of all ranges but the first, ascending, for a table with so many bytes of changes, `n` times as
    many as a unit may have; `files` are the base's, and all keys are of this kind."""
    ends: SortedDict[Value, Value] = SortedDict((low, high) for file in files if isinstance(low := file.min_key, kind)
                                                and isinstance(high := file.max_key, kind))
    found = {bound for bound in keys.bounds(n)
             if not ((begun := ends.bisect_left(bound)) and bound <= ends.values()[begun - 1])}
    for low, high in ends.items():
        in_file = keys.part_within(low, high) * n_bytes
        parts = int(min(1 + in_file // unit_bytes, in_file // HOT_BYTES))
        if parts > 1:
            found |= keys.bounds_within(low, high, parts)
    return sorted(found.union(ends.islice(1)))


class BaseFiles:
    """A table's files that have rows, in the order of their keys; none where the base has no such table."""

    def __init__(self, files: Sequence[FileEntry]):
        self.all = tuple(files)
        self._lows: list[Any] = [file.min_key for file in files]
        self._highs: list[Any] = [file.max_key for file in files]

    def within(self, low: KeyValue | None, high: KeyValue | None) -> tuple[FileEntry, ...]:
        """Those with rows from `low` to before `high`. Without bounds, also files that have no keys."""
        first = 0 if low is None else bisect_left(self._highs, low)
        end = len(self.all) if high is None else bisect_left(self._lows, high)
        return self.all[first:end]
