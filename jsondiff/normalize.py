"""Columns of JSON text as MySQL would print them after storing them."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jsondiff.columns import bytes_and_offsets
from jsondiff.kernels import canonical_kernel as kernel
from jsondiff.text import from_text, to_text
from jsondiff.values import DocumentError


def normalize(column: pa.Array) -> pa.Array:
    """The text that MySQL prints after CAST(text AS JSON), for a whole column.

    column: pa.string() or pa.large_string(); the result has the same type and length, and NULL stays null. Text that is
    canonical already, as in every dump of a MySQL server, is not parsed. Raises DocumentError for the first row that is
    not JSON or is nested too deeply."""
    data, offsets = bytes_and_offsets(column)
    others = np.empty(len(column), np.bool_)
    kernel.find_others(data, offsets, column.is_valid().to_numpy(zero_copy_only=False), others)
    if not others.any():
        return column
    texts = []
    for row in np.flatnonzero(others).tolist():
        try:
            texts.append(to_text(from_text(column[row].as_py())))
        except DocumentError as error:
            raise DocumentError(error.what, error.errno, error.offset, row) from None
    return pc.replace_with_mask(column, pa.array(others), pa.array(texts, column.type))
