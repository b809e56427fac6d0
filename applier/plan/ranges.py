"""Keys of changes, from the outlines' samples of rows events, and the bounds of ranges that divide them.

In a table with a base, a range begins where a file does, so that files without changes in their range are carried over,
and at keys of the log between the files and after them, where most tables grow. A file is divided only if many
changes are to keys in it: it is rewritten in any case then, and each of its units reads it for its own rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
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
from applier.columns.weighed_keys import WeighedKeys
from applier.errors import ApplierError, ReplayStopped
from applier.io.mapping import MappedFile
from applier.plan.used_tables import UsedTable
from applier.schema.definition import TableDefinition
from applier.snapshot.files.file_entries import FileEntry, KeyValue
from keysearch.addresses import address_of

SAMPLES_A_RANGE = 32
"""The samples of a table that are decoded for each range: with this many, hardly one of 20,000 ranges is twice as large
as the others."""
KEYS_A_SAMPLE = 8
TOGETHER, TOGETHER_BYTES = 4096, 16 << 20
"""Samples that are decoded together, and what they take."""
_GUARD = bytes(64)


@overload
def sampled_keys(uses: list[UsedTable], definition: TableDefinition, key: IntKey, n: int,
                 allowed: TypeConversions = ...) -> WeighedKeys[int]: ...
@overload
def sampled_keys(uses: list[UsedTable], definition: TableDefinition, key: BytesKey, n: int,
                 allowed: TypeConversions = ...) -> WeighedKeys[bytes]: ...
def sampled_keys(uses: list[UsedTable], definition: TableDefinition, key: TableKey, n: int,
                 allowed: TypeConversions = NONE_ALLOWED) -> WeighedKeys[int] | WeighedKeys[bytes]:
    """Keys of the rows sampled in `uses`, as many as `n` ranges need; one range needs none."""
    wanted = uses if n > 1 else []
    match key:
        case IntKey():
            return WeighedKeys(_Sampled[int](definition, key, key.listed, allowed).keys(wanted, n))
        case BytesKey():
            return WeighedKeys(_Sampled[bytes](definition, key, key.listed, allowed).keys(wanted, n))


class _Sampled(Generic[Value]):
    """Up to KEYS_A_SAMPLE keys of each sample of a table, each with its part of the bytes that the sample stands for.
    """

    def __init__(self, definition: TableDefinition, key: TableKey, listed: Callable[[Any], list[Value]],
                 allowed: TypeConversions):
        self._definition, self._key, self._allowed = definition, key, allowed
        self._listed: Callable[[Any], list[Value]] = listed
        self._found: list[tuple[Value, float]] = []
        self._keys: list[Value] = []
        self._events: list[np.ndarray] = []  # by key, the number of its sample among those that are read together
        self._starts = np.zeros(0, np.int64)
        self._bindings: list[TableBinding] = []
        self._whole_rows = True

    def keys(self, uses: list[UsedTable], n: int) -> list[tuple[Value, float]]:
        """Those of the samples of all uses of the table, or of as many of them, evenly chosen, as n ranges need."""
        n_samples = sum(sum(used.sample_counts()) for used in uses)
        step, before = max(1, n_samples // (SAMPLES_A_RANGE * n)), 0
        by_body: dict[bytes, list[bytes]] = {}
        for used in uses:
            for number, count in enumerate(used.sample_counts()):
                if -before % step < count:
                    by_body.setdefault(used.use.body, []).extend(used.samples(number)[-before % step::step])
                before += count
        for body, samples in by_body.items():
            without_keys: list[bytes] = []
            for some in _together(samples):
                without_keys += self._read(body, some)
            for some in _together(map(_whole, without_keys)):
                self._read(body, some, whole_rows=False)
        return self._found

    def _read(self, body: bytes, samples: list[bytes], *, whole_rows: bool = True) -> list[bytes]:
        """Add the keys of these samples, of their first rows where others are not there; those without a key are
        returned that were truncated within the first row."""
        self._bindings.clear()
        self._keys, self._events, self._whole_rows = [], [], whole_rows
        file, self._starts = _as_file(body, samples)
        reader = ChangeReader(file, self._bind, checksum=False)
        at, end = 0, file.size
        while at < end:
            try:
                reader.walk(at, end)
                break
            except ApplierError as error:  # truncated within a row: earlier rows count
                reached = at if error.position is None else max(at, error.position)
                at = int(self._starts[np.searchsorted(self._starts, reached, side="right")])
                for binding in self._bindings:
                    binding.batch.before.rewind(binding.batch.n_before)
                    binding.batch.after.rewind(binding.batch.n_after)
        with suppress(ApplierError):  # a key that stops the replay, when it comes to it
            reader.flush()
        for binding in self._bindings:
            binding.batch.reset()
        events = np.concatenate([np.zeros(0, np.int64), *self._events])
        counts = np.bincount(events, minlength=len(samples))
        weights = np.array([int.from_bytes(sample[9:13], "little") for sample in samples])
        self._found += zip(self._keys, (weights[events] / counts[events]).tolist(), strict=True)
        return [samples[number] for number in np.flatnonzero(counts == 0) if _is_truncated(samples[number])]

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
        events = np.searchsorted(self._starts, batch.positions, side="right") - 2  # the first one is the table map
        picks = _spread(events) if self._whole_rows else np.flatnonzero(batch.rows == 0)
        after = batch.after_rows[picks] >= 0
        before_columns, after_columns = keys.columns(batch)
        for columns, rows, changes in ((before_columns, batch.before_rows, picks[~after]),
                                       (after_columns, batch.after_rows, picks[after])):
            chosen = pa.array(rows[changes])
            self._keys += self._listed(self._key.encode([column.take(chosen) for column in columns]))
            self._events.append(events[changes])


def _spread(events: np.ndarray) -> np.ndarray:
    """The numbers of KEYS_A_SAMPLE changes of each event, or of all, evenly chosen, given each change's event."""
    firsts = np.flatnonzero(np.diff(events, prepend=-1))
    counts = np.diff(firsts, append=len(events))
    ranks, most = np.arange(len(events)) - np.repeat(firsts, counts), np.repeat(counts, counts)
    return np.flatnonzero((ranks == 0) | (ranks * KEYS_A_SAMPLE // most != (ranks - 1) * KEYS_A_SAMPLE // most))


def _together(samples: Iterable[bytes]) -> Iterator[list[bytes]]:
    some: list[bytes] = []
    n_bytes = 0
    for sample in samples:
        some.append(sample)
        n_bytes += len(sample)
        if len(some) == TOGETHER or n_bytes >= TOGETHER_BYTES:
            yield some
            some, n_bytes = [], 0
    if some:
        yield some


def _is_truncated(sample: bytes) -> bool:
    return int.from_bytes(sample[13:17], "little") > len(sample)


def _whole(sample: bytes) -> bytes:
    """Return a sample that was truncated within its first row, padded with zeros: a key is most often among the first
    columns."""
    length = int.from_bytes(sample[13:17], "little")
    return sample[:13] + len(sample).to_bytes(4, "little") + sample[17:] + bytes(length - len(sample))


def _as_file(body: bytes, samples: list[bytes]) -> tuple[MappedFile, np.ndarray]:
    """A table map and the beginnings of rows events, as a file of events; and where these are in it, and end."""
    data, starts = bytearray(), [0]
    for kind, event in [(EventType.TABLE_MAP, bytes(25) + body), *((sample[4], sample) for sample in samples)]:
        start = len(data)
        data += event
        data[start + 4] = kind
        data[start + 9:start + 13] = len(event).to_bytes(4, "little")
        data[start + 19:start + 25] = bytes(6)
        starts.append(len(data))
    array = np.frombuffer(bytes(data) + _GUARD, np.uint8)
    return MappedFile("samples", len(array) - len(_GUARD), array, address_of(array)), np.array(starts)


HOT_BYTES = 64 << 20
"""The least bytes of rows events for a unit of a file that is divided. A unit more reads the file once more: 0.25 s of
CPU for 3 million rows in 13 MB, as long as it takes to apply 100 MB."""


def lows(keys: WeighedKeys[Value], files: Sequence[FileEntry], kind: type[Value], n: int, n_bytes: int,
         unit_bytes: int) -> list[Value]:
    """Return the lower bounds of all ranges but the first, ascending, for a table with this many bytes of changes, `n`
    times as many as a unit may have; `files` are the base's, and all keys are of this kind."""
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
