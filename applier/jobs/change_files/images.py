"""Changes of any table in one schema: one row per change, its images as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from applier.jobs.change_files.dividing import divided
from applier.jobs.change_files.lines import OPERATIONS, JsonLines, diffs_of_lines
from applier.jobs.changes.commit_order import CommitOrder
from applier.jobs.changes.feed import OF_CHANGES
from applier.jobs.json_lines.steps import AFTER, BEFORE, Cells, Steps
from applier.schema.table_parts import Column

_LEFT_OUT = ("_change_type", "_present", "_diffs")
SCHEMA = pa.schema([
    pa.field("_table", pa.string(), nullable=False),
    pa.field("_change_type", pa.dictionary(pa.int8(), pa.string()), nullable=False),
    *(field for field in OF_CHANGES if field.name not in _LEFT_OUT),
    pa.field("before", pa.string()),
    pa.field("after", pa.string()),
    pa.field("_diffs", pa.string()),
])
"""`_change_type` is insert, update, delete, truncate or alter; an image has the columns that the log has."""


class JsonImages(JsonLines):
    """Makes rows of a table's batches."""

    def __init__(self, table: tuple[str, str], columns: Mapping[str, Column], key: Sequence[str] = ()) -> None:
        super().__init__(table, columns, key, CommitOrder({}))
        self._name = ".".join(table)

    def rows(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield rows of SCHEMA for a batch, in parts of bounded size."""
        for part in divided(batch):
            lines, cells = self._divided(part), self._of_table(part)
            images = [self._images(lines, Steps().image(which, self._members([cell.mode for cell in cells])), cells,
                                   lines[name] >= 0) for which, name in ((BEFORE, "before"), (AFTER, "after"))]
            rows = pa.array(lines["row"])
            kinds = pa.DictionaryArray.from_arrays(lines["operation"].astype(np.int8), pa.array(OPERATIONS))
            yield pa.RecordBatch.from_arrays([
                pa.repeat(self._name, len(lines)), kinds,
                *(part.column(field.name).take(rows) for field in OF_CHANGES if field.name not in _LEFT_OUT),
                *images, diffs_of_lines(part).take(rows)], schema=SCHEMA)

    def _images(self, lines: np.ndarray, steps: Steps, cells: Sequence[Cells], there: np.ndarray) -> pa.Array:
        text, ends = steps.write(lines, cells)
        offsets = np.concatenate([[0], ends]).astype(np.int32)
        validity = pa.py_buffer(np.packbits(there, bitorder="little"))
        return pa.Array.from_buffers(pa.string(), len(lines), [validity, pa.py_buffer(offsets), pa.py_buffer(text)])
