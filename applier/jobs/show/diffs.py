"""JSON diffs in the after-images of PARTIAL_UPDATE_ROWS, as the SQL that `mysqlbinlog -v` prints for them (JD-SHOW)."""

import numpy as np

from applier.apply.output.rows_kernel import decode_images
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT
from applier.binlog.rows.changes import ChangeBatch, ImageLayouts
from applier.binlog.rows.image_kernel import FULL
from applier.binlog.rows.layout import NO_NULLS, ImageBuffers, ImageProgram
from applier.errors import CORRUPT_EVENT, ArchiveError
from jsondiff import wire
from jsondiff.diff import DiffError
from jsondiff.sql import to_sql

_DAMAGED = "the file is damaged; copy it again from the server"


def diff_texts(batch: ChangeBatch, layouts: ImageLayouts) -> dict[tuple[int, int], str]:
    """The diffs of a batch's after-images by row of `batch.after` and column. Raises ArchiveError (1610) where some are
    malformed."""
    with_diffs = np.array([bool(layout.diffs) for layout in layouts.known])
    changes = np.flatnonzero((batch.after_rows >= 0) & with_diffs[batch.images >> IMAGE_ID_SHIFT])
    if not len(changes):
        return {}
    pointers = np.ascontiguousarray(batch.images[changes])
    used = [layouts.known[number] for number in (pointers >> IMAGE_ID_SHIFT).tolist()]
    columns = set().union(*(layout.diffs for layout in used))
    buffers = _decoded(pointers, columns, layouts, batch.file.address + batch.file.size)
    values = {column: buffers.columns[column].arrow(len(pointers)).to_pylist() for column in columns}
    texts = {}
    for i, (row, layout) in enumerate(zip(batch.after_rows[changes].tolist(), used)):
        for column in layout.diffs:
            if values[column][i] is None:
                raise ArchiveError(f"column @{column + 1}: a NULL that is marked as a JSON diff", errno=CORRUPT_EVENT,
                                   hint=_DAMAGED)
            try:
                texts[row, column] = to_sql(wire.decode(values[column][i]), f"@{column + 1}")
            except DiffError as reason:
                raise ArchiveError(f"column @{column + 1}: {reason.what}", errno=CORRUPT_EVENT, hint=_DAMAGED) from None
    return texts


def _decoded(pointers: np.ndarray, columns: set[int], layouts: ImageLayouts, end: int) -> ImageBuffers:
    """These columns of the images, diffs as the bytes that they are."""
    wanted = [plan if column in columns else None for column, plan in enumerate(layouts.plans)]
    buffers = ImageBuffers(wanted, len(pointers))
    programs = [ImageProgram(layouts.plans, layout.present, buffers) for layout in layouts.known]
    addresses = np.array([program.address for program in programs], np.int64)
    ends, zero_dates, row = np.full(len(pointers), end), np.zeros(1, np.int64), 0
    while row < len(pointers):
        done = int(decode_images(pointers, ends, addresses, row, zero_dates.ctypes.data, NO_NULLS.ctypes.data))
        if 0 <= done < len(pointers):
            raise ArchiveError("a row image contradicts its own lengths", errno=CORRUPT_EVENT, hint=_DAMAGED)
        row = done if done >= 0 else FULL - done
        if done < 0:
            buffers.double(row)
    return buffers
