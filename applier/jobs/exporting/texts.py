"""Cells of columns as the text of rows, by kernels."""

from collections.abc import Sequence

import numpy as np

from applier.jobs.exporting.cells import Cells
from applier.jobs.exporting.text_kernel import CELL_BYTES, CELLS, ROW_BYTES, write_literals, write_rows
from applier.mysql.client_sql import for_clients
from keysearch.addresses import address_of

STATEMENT_BYTES = 1 << 20
"""An INSERT that has reached this size is ended: servers accept statements of 16 MB and more."""
_ESCAPED = 2


def rows_text(cells: Sequence[Cells], rows: int, sql: bool, head: np.ndarray) -> memoryview:
    """Rows as the kernel writes them: as SQL, with this head of an INSERT, or as TSV."""
    size = _ESCAPED * _bytes_of(cells) + rows * (CELL_BYTES * len(cells) + ROW_BYTES)
    size += 2 * (size // STATEMENT_BYTES + 1) * len(head)  # heads fill statements, too, a third at most
    out, packed = np.empty(size, np.uint8), _Packed(cells, rows)
    written = write_rows(packed.address, sql, address_of(head), len(head), STATEMENT_BYTES, address_of(out))
    return out.data[:written]


def literals_text(cells: Sequence[Cells], rows: int, words: Sequence[str]) -> memoryview:
    """Rows as SQL literals between these words: one before each cell, and one at the end. Raises SchemaError for a name
    that a client could misread."""
    encoded = [for_clients(word).encode() for word in words]
    edges = np.cumsum([0, *map(len, encoded)])
    text = np.frombuffer(b"".join(encoded), np.uint8)
    size = _ESCAPED * _bytes_of(cells) + rows * (CELL_BYTES * len(cells) + len(text))
    out, packed = np.empty(size, np.uint8), _Packed(cells, rows)
    written = write_literals(packed.address, address_of(text), edges, address_of(out))
    return out.data[:written]


def _bytes_of(cells: Sequence[Cells]) -> int:
    return sum(int(column.offsets[-1]) for column in cells)


class _Packed:
    """Cells as a record for kernels, at an address."""

    def __init__(self, cells: Sequence[Cells], rows: int) -> None:
        offsets = np.array([column.offsets for column in cells], np.int64).reshape(len(cells), rows + 1)
        nulls = np.array([column.nulls for column in cells], np.uint8).reshape(len(cells), rows)
        addresses = np.array([address_of(column.data) for column in cells], np.int64)
        modes = np.array([column.mode for column in cells], np.uint8)
        self._kept = cells, addresses, offsets, nulls, modes
        self._record = np.array((len(cells), rows, *map(address_of, (addresses, offsets, nulls, modes))), CELLS)
        self.address = address_of(self._record)
