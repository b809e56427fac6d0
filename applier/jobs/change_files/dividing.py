"""Batches of a feed in parts whose texts take bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.changes.feed import CHANGE_TYPES

_POSTIMAGE = CHANGE_TYPES.index("update_postimage")
MOST_BYTES = 32 << 20
"""Of the values of a part; its lines of JSON may need about eight times as much room."""


def divided(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield a batch in parts whose values are at most MOST_BYTES; the rows before and after an update, which may be
    more, stay together."""
    if batch.num_rows <= 2 or _size(batch) <= MOST_BYTES:
        yield batch
        return
    middle = batch.num_rows // 2
    middle += batch.column("_change_type").indices[middle].as_py() == _POSTIMAGE
    for part in (batch.slice(0, middle), batch.slice(middle)):
        yield from divided(part)


def _size(batch: pa.RecordBatch) -> int:
    """Its bytes, with the texts of dictionaries as often as rows have them."""
    return sum(_size_of_texts(values) if pa.types.is_dictionary(values.type) else int(values.nbytes)
               for values in batch.columns)


def _size_of_texts(values: pa.DictionaryArray) -> int:
    lengths = pc.binary_length(values.dictionary).cast(pa.int64())
    return int(values.indices.nbytes) + (pc.sum(lengths.take(values.indices)).as_py() or 0)
