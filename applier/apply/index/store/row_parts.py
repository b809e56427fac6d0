"""The input of a row store from images: their parts, and the parts by which a row is searched."""

from __future__ import annotations

import dataclasses

import numpy as np

from applier.apply.index.store import store_layout as s
from keysearch.addresses import address_of
from keysearch.keybytes import KeyBytes


@dataclasses.dataclass(frozen=True)
class EncodedRowPart:
    """A part of each image of a batch: `keys` by row. `absent` (bool[n]; None: no row) marks the rows without the part,
    which have `default` instead (None: the contents of `keys`)."""

    keys: KeyBytes
    absent: np.ndarray | None = None
    default: bytes | None = b""


@dataclasses.dataclass(frozen=True)
class Search:
    """How a before-image finds its row: by the unique key of this number, or by all these parts. `ranked`: rows that
    are equal in these may differ in others, and the first one in the table's order is used. Without any part no row is
    found (IDX-R2), which also stops idempotent mode, unless `is_passed_over` (MariaDB); with `finds_any` it is the
    first row. `kind` is the server's access path (keysearch.choose.AccessPath.kind)."""

    unique: int | None = None
    parts: tuple[int, ...] = ()
    ranked: bool = False
    kind: str = "scan"
    is_passed_over: bool = False
    finds_any: bool = False


class Inputs:
    """The parts of a batch's images as the kernels read them."""

    def __init__(self, parts: list[EncodedRowPart]):
        self._kept: list[object] = list(parts)
        rows = []
        for part in parts:
            absent = None if part.absent is None else np.ascontiguousarray(part.absent, np.uint8)
            given = part.default or b""
            default = np.frombuffer(given + b"\0", np.uint8)
            self._kept += [absent, default]
            rows.append((address_of(part.keys.offsets), address_of(part.keys.data),
                         0 if absent is None else address_of(absent),
                         0 if part.default is None else address_of(default), len(given)))
        self._records = np.array(rows, s.INPUT)
        self.address = address_of(self._records)
