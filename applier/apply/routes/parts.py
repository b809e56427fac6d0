"""Applies a unit with more changes than its task should have in memory in parts: ranges of its keys, one after another.

A plan divides tables by samples, so a unit may be larger than planned. Each part reads all payloads and takes the
changes in its range, like units of one task on a walk.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.routes.packing import Unpacked, header_of
from applier.apply.routes.payload import Header, chosen_keys, column_types, key_types
from applier.apply.spec import Altered, BeginsEmpty, FromBase, KeyRange, RowOrigin, UnitSpec
from applier.apply.tasks import Applied, TaskOutcome, UnitResult, outcome_of
from applier.apply.witnessed import together
from applier.columns.weighed_keys import WeighedKeys
from applier.snapshot.files.file_entries import FileEntry, KeyValue

LARGE_BYTES, PART_BYTES = 256 << 20, 128 << 20
"""The size of changes from which on a unit is divided, and that of each part."""
_PAYLOADS, _KEYS = 1024, 128
"""The most payloads that are sampled, and the number of keys per part."""
Apply = Callable[[UnitSpec, Sequence[pa.Buffer]], TaskOutcome]


def apply_in_parts(unit: UnitSpec, payloads: Sequence[pa.Buffer], apply: Apply) -> TaskOutcome:
    """Apply a unit, as a whole if it is not too large or cannot be divided."""
    n_bytes = sum(payload.size for payload in payloads)
    if n_bytes <= LARGE_BYTES or not unit.may_divide or not isinstance(unit.search, KeyRange):
        return apply(unit, payloads)
    n = -(-n_bytes // PART_BYTES)
    bounds = WeighedKeys[Any](_keys(unit, unit.search, payloads, n * _KEYS)).bounds(n)
    outcomes = []
    for low, high in pairwise([unit.search.low, *bounds, unit.search.high]):
        outcomes.append(apply(_part(unit, low, high), payloads))
        gc.collect()  # the objects of a part refer to one another
    outcome = outcome_of(outcomes)
    return Applied(results=(_as_one(outcome.results),)) if isinstance(outcome, Applied) else outcome


def _keys(unit: UnitSpec, rows: KeyRange, payloads: Sequence[pa.Buffer],
          n: int) -> Iterator[tuple[KeyValue, float]]:
    """Yield about `n` keys of the unit's changes, with the weight of each."""
    low: Any = rows.low
    high: Any = rows.high
    definitions = {link.version: link.definition for link in unit.chain}
    some = payloads[::-(-len(payloads) // _PAYLOADS)]
    n_bytes = sum(payload.size for payload in some)
    for payload in some:
        count, header = header_of(payload)
        known = Header.read(header)
        types = column_types(key_types(rows.key, definitions[known.version]), known.before_images)
        changes = Unpacked(types, [payload], [count], len(header))
        picks = np.unique(np.linspace(0, count - 1, 1 + n * payload.size // n_bytes).astype(np.int64))
        keys: list[Any] = rows.key.keys(chosen_keys(changes.columns, picks, known.before_images))
        for key in keys:
            if (low is None or low < key) and (high is None or key < high):
                yield key, payload.size / len(keys)


def _part(unit: UnitSpec, low: KeyValue | None, high: KeyValue | None) -> UnitSpec:
    """Return the part of the unit in the range from `low` to before `high`."""
    made: dict[int, UnitSpec] = {}
    for link in unit.chain:
        search, origin = link.search, link.origin
        if isinstance(search, KeyRange):
            search = replace(search, low=low, high=high)
        if isinstance(origin, FromBase):
            origin = _begins(origin, low, high)
        elif isinstance(origin, Altered):
            origin = replace(origin, unit=made[id(origin.unit)])
        made[id(link)] = replace(link, search=search, origin=origin, is_part=True, may_divide=False, may_merge=False)
    return made[id(unit)]


def _begins(origin: FromBase, low: Any, high: Any) -> RowOrigin:
    """Return the origin with only the base's files that have rows in a range."""
    def has_rows(file: FileEntry) -> bool:
        first: Any = file.min_key
        last: Any = file.max_key
        return (low is None or last >= low) and (high is None or first < high)

    files = tuple(filter(has_rows, origin.files))
    return replace(origin, files=files) if files else BeginsEmpty()


def _as_one(results: Sequence[UnitResult]) -> UnitResult:
    """Return the result of a unit, given those of its parts, in the order of their keys."""
    conflicts = [result.conflicts for result in results if result.conflicts is not None]
    files = [result.files for result in results if result.files is not None]
    return replace(
        results[0], files=tuple(chain.from_iterable(files)) if files else None,
        conflicts=pa.concat_tables(conflicts) if conflicts else None,
        found=dict(sum((Counter(result.found) for result in results), Counter[str]())),
        zero_dates_in_files={path: n for result in results for path, n in result.zero_dates_in_files.items()},
        witnessed=together(result.witnessed for result in results),
        **{name: sum(getattr(result, name) for result in results) for name in (
            "inserted", "updated", "deleted", "zero_dates", "seconds", "partial_updates", "documents", "bytes_saved")})
