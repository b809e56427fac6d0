"""Asks a server for rows of a range: their keys and hashes, and the values of some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.server_session import Row, text
from applier.jobs.verify import statements
from applier.jobs.verify.answers import RowHashes, row_hashes
from applier.jobs.verify.plan import ComparedTable, ComparisonPlan
from applier.jobs.verify.server import Server

_BEFORE_KEY = 4
"""Columns of an answer before a row's key."""
_KEY = "^[0-9A-F.]*$"
_MOST_KEYS, _MOST_BYTES = 2000, 1 << 20
"""So many keys, and bytes of them, are in one statement."""
Values = tuple[bytes | None, ...]
"""A row's values as the bytes that are hashed, None for NULL."""
KnownRow = tuple[str, Values]
"""A row's key and values."""


@dataclass(frozen=True)
class ServerRows:
    """The rows of a server's tables. Methods raise as Server's do."""

    plan: ComparisonPlan
    server: Server

    def hashes(self, table: ComparedTable, number: int) -> RowHashes:
        """The keys and hashes of the rows of a range."""
        return self.server.rows(statements.row_hashes(self.plan, table, number), _BEFORE_KEY + 1 + len(table.columns),
                                partial(_row_hashes, table))

    def values(self, table: ComparedTable, number: int, keys: Sequence[str]) -> Iterator[KnownRow]:
        """The rows of a range that have one of these keys. A table without a key has as many as there are with the
        hash."""
        for some in _divided(keys):
            yield from self.server.rows(statements.row_values(table, number, some), 1 + len(table.columns),
                                        partial(_known, frozenset(some)))


def _divided(keys: Sequence[str]) -> Iterator[list[str]]:
    """Keys, as many at a time as a statement may have."""
    some: list[str] = []
    n_bytes = 0
    for key in keys:
        some.append(key)
        n_bytes += len(key)
        if len(some) == _MOST_KEYS or n_bytes >= _MOST_BYTES:
            yield some
            some, n_bytes = [], 0
    if some:
        yield some


def _known(keys: frozenset[str], rows: Sequence[Row]) -> list[KnownRow]:
    """Rows that were asked for. Raises ValueError and TypeError for others."""
    found: list[KnownRow] = [(text(key), tuple(values)) for key, *values in rows]
    if not keys.issuperset(key for key, _ in found):
        raise ValueError("rows that were not asked for")
    return found


def _row_hashes(table: ComparedTable, rows: Sequence[Row]) -> RowHashes:
    """The keys and hashes of a range's rows. Raises ValueError for rows that are none."""
    flat = np.array([row[_BEFORE_KEY:] for row in rows], object).reshape(len(rows), -1)
    keys, numbers = (pa.array(cells, pa.binary()).cast(pa.string()) for cells in (flat[:, 0], flat[:, 1:].ravel()))
    if keys.null_count or numbers.null_count or not pc.all(pc.match_substring_regex(keys, _KEY)).as_py():
        raise ValueError("no keys and hashes")
    return row_hashes(table, keys, numbers.cast(pa.uint64()).to_numpy())
