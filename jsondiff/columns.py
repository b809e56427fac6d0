"""Arrow columns of bytes or text as the arrays that kernels take, and back."""

import numpy as np
import pyarrow as pa


def bytes_and_offsets(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The bytes (uint8) of a column of binary or string values, large ones too, and its int64 offsets into them.

    The bytes are always read-only, which is part of their type: Numba compiles a kernel again for another one."""
    is_large = pa.types.is_large_binary(column.type) or pa.types.is_large_string(column.type)
    if len(column) == 0:
        return np.frombuffer(b"", np.uint8), np.zeros(1, np.int64)
    _, offsets, data = column.buffers()
    offsets = np.frombuffer(offsets, np.int64 if is_large else np.int32)
    values = np.frombuffer(data or b"", np.uint8)
    values.setflags(write=False)
    return values, offsets[column.offset : column.offset + len(column) + 1].astype(np.int64)


def validity_buffer(valid: np.ndarray) -> pa.Buffer | None:
    """Arrow's validity bitmap for bool[n]; None if all are valid."""
    return None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
