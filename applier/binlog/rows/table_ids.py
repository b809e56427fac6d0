"""The tables of a walk by table id, in the format of `table_ids_kernel`."""

import numpy as np

from applier.binlog.rows.table_ids_kernel import ENTRY
from keysearch.addresses import address_of


class TableIds:
    """An open-addressed hash table: by table id, the number of a table in the walk, and the body of its map."""

    def __init__(self) -> None:
        self._entries = _free(256)
        self._count = 0

    @property
    def address(self) -> int:
        """The address of the table, valid until the next `set`."""
        return address_of(self._entries)

    @property
    def mask(self) -> int:
        return len(self._entries) - 1

    def set(self, table_id: int, number: int, body: np.ndarray) -> None:
        """Assign a table to this id; `body` (uint8[n]) must live as long as the entry."""
        if self._count * 2 >= len(self._entries):
            old = self._entries[self._entries["id"] != -1]
            self._entries = _free(4 * len(self._entries))
            for entry in old:
                self._entries[self._slot(int(entry["id"]))] = entry
        slot = self._slot(table_id)
        self._count += int(self._entries["id"][slot] == -1)
        self._entries[slot] = table_id, number, address_of(body), len(body)

    def _slot(self, table_id: int) -> int:
        slot = (table_id * 0x9E3779B97F4A7C15 % (1 << 64) >> 40) & self.mask
        while self._entries["id"][slot] not in (-1, table_id):
            slot = (slot + 1) & self.mask
        return slot


def _free(n: int) -> np.ndarray:
    entries = np.zeros(n, ENTRY)
    entries["id"] = -1
    return entries
