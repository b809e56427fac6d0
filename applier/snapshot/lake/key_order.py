"""The order of a lake's rows: that of their keys, and between which bounds each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.snapshot.files.file_entries import KeyKind, KeyValue, Layer
from keysearch.keybytes import KeyBytes, find_ranges, int_key
from keysearch.keyrules import encode_by_rules

_READABLE = 32
"""The number of readable bytes that follow the keys of a KeyBytes."""


@dataclass(frozen=True)
class KeyOrder:
    """The key by which rows are merged: its columns, kind and rules."""

    names: tuple[str, ...]
    kind: KeyKind
    rules: tuple[str, ...] = ()

    @classmethod
    def of(cls, layer: Layer) -> KeyOrder:
        """That of a layer."""
        return cls(layer.key, layer.key_kind, layer.key_rules)

    def numbers(self, rows: pa.Table, bounds: Sequence[KeyValue]) -> np.ndarray:
        """Return the number of the ascending bounds that each row's key reaches: int64[n]."""
        columns = [rows.column(name) for name in self.names]
        return reached(int_key(columns[0]) if self.kind == "int" else encode_by_rules(columns, self.rules), bounds)

    def order(self, rows: pa.Table) -> np.ndarray:
        """Return the rows' numbers in the order of their keys: int64[n]. Raises ValueError if two rows have the same
        key."""
        columns = [rows.column(name) for name in self.names]
        if self.kind == "int":
            keys = int_key(columns[0])
            order = np.argsort(keys, kind="stable")
            is_twice = bool((np.diff(keys[order]) == 0).any())
        else:
            texts = encode_by_rules(columns, self.rules).to_arrow()
            order = pc.array_sort_indices(texts).to_numpy().astype(np.int64)
            ascending = texts.take(pa.array(order))
            is_twice = len(order) > 1 and pc.any(pc.equal(ascending[1:], ascending[:-1])).as_py()
        if is_twice:
            raise ValueError("two rows have one key")
        return order


def reached(keys: np.ndarray | KeyBytes, bounds: Sequence[KeyValue]) -> np.ndarray:
    """Return the number of the ascending bounds that each key reaches: int64[n]."""
    if not isinstance(keys, KeyBytes):
        return np.searchsorted(np.array(bounds, np.int64), keys, side="right")
    texts = [bound for bound in bounds if isinstance(bound, bytes)]
    offsets = np.cumsum([0, *map(len, texts)])
    data = np.frombuffer(b"".join(texts) + bytes(_READABLE), np.uint8)
    return find_ranges(keys, KeyBytes(offsets, data))
