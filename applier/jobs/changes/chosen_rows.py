"""Changes of chosen rows with images as in the log: keys of a batch are decoded first, then only the selected images.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from applier.apply.output.image_reader import ChunkTooLarge, ImageMemory, ImageReader
from applier.apply.search.change_keys import change_keys
from applier.apply.tables.logged_table import TableReading
from applier.binlog.rows.changes import ChangeBatch
from applier.binlog.rows.layout import ColumnPlan, ImageBuffers
from applier.errors import KEY_NOT_FOUND, ReplayStopped, UnsupportedEvent
from applier.io.mapping import MappedFile
from applier.jobs.changes.keys import ChosenKeys
from applier.schema.definition import TableDefinition


class ChosenRows:
    """Reads the `wanted` columns of changes of rows that are `chosen`. `of_keys` are the columns that must be decoded
    of all changes; `inflated` is the memory of images of compressed events."""

    def __init__(self, chosen: ChosenKeys, definition: TableDefinition, reading: TableReading,
                 wanted: list[ColumnPlan | None], inflated: list[MappedFile]) -> None:
        self._chosen, self._reading, self._wanted, self._inflated = chosen, reading, wanted, inflated
        self._keys = change_keys(chosen.key, definition, reading.table_map)
        self.of_keys = self._keys.wanted(reading.plans)

    def keep(self, batch: ChangeBatch) -> None:
        """Drop the changes of other rows. Raises UnsupportedEvent for a before-image that does not have the key."""
        try:
            before, after = self._chosen.of_changes(self._keys.columns(batch))
        except ReplayStopped as error:
            if error.mysql_errno != KEY_NOT_FOUND:
                raise
            raise UnsupportedEvent(error.message, file=error.file, position=error.position, table=error.table,
                                   hint="ask for complete changes, or for those of all rows") from None
        wanted = np.zeros(batch.n, np.bool_)
        for rows, flags in ((batch.before_rows, before), (batch.after_rows, after)):
            with_image = rows >= 0
            wanted[with_image] |= flags[rows[with_image]]
        batch.keep(wanted)

    def read(self, batch: ChangeBatch, changes: np.ndarray,
             is_before: np.ndarray) -> Iterator[tuple[slice, ImageBuffers]]:
        """Decode images of a batch: which change each is of, ascending, and whether it is the one before it. Gives them
        in parts, each of whole changes; a part is good until the next one."""
        pointers = np.where(is_before, batch.before_images[changes], batch.images[changes])
        memory, first, n = ImageMemory([batch.file, *self._inflated]), 0, batch.n
        while first < batch.n:
            part = slice(*np.searchsorted(changes, [first, first + n]).tolist())
            reader = ImageReader(memory, self._reading.layouts, self._wanted, part.stop - part.start,
                                 raw_diffs=True)
            try:
                reader.read(pointers[part], together=n == 1)
            except ChunkTooLarge:
                n = max(1, n // 2)
                continue
            yield part, reader.buffers
            first += n
        del self._inflated[:-1]  # images of batches to come are in the last one, and behind it
