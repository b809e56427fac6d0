"""Arrow columns of byte strings for NumPy and kernels: offsets and bytes, without a copy if possible."""

import binascii

import numpy as np
import pyarrow as pa

from applier.mysql.values.byte_columns_kernel import scatter
from keysearch.addresses import address_of


def value_bytes(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """A column of bytes as (offsets: int64[n + 1], bytes: uint8); value i is bytes[offsets[i]:offsets[i + 1]].

    The bytes are always read-only: to Numba that is part of the type, and a kernel is compiled again for another one.
    """
    _, offsets, data = array.buffers()
    if len(array) == 0:
        return np.zeros(1, np.int64), np.frombuffer(b"", np.uint8)
    offsets = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    values = np.frombuffer(data if data is not None else b"", np.uint8)[offsets[0] : offsets[-1]]
    values.setflags(write=False)
    return offsets - offsets[0], values


def fixed_bytes(array: pa.Array, width: int) -> np.ndarray:
    """A fixed-size binary column, or a binary one whose values are at most `width` bytes, as uint8[n, width].

    Shorter values get zero bytes at their end, as the servers drop these in row images; a null is anything.
    Raises ValueError where a value is longer.
    """
    if pa.types.is_fixed_size_binary(array.type):
        if array.type.byte_width != width:
            raise ValueError(f"{array.type.byte_width} bytes where {width} belong")
        data = np.frombuffer(array.buffers()[1] or b"", np.uint8)
        return data[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width)
    offsets, data = value_bytes(array)
    lengths = np.diff(offsets)
    if len(lengths) and lengths.max() > width:
        raise ValueError(f"a value of {lengths.max()} bytes where {width} are the most")
    if len(lengths) and lengths.min() == width:
        return data.reshape(len(array), width)
    padded = np.zeros((len(array), width), np.uint8)
    scatter(address_of(data), offsets, address_of(padded), width)
    return padded


def validity(array: pa.Array) -> pa.Buffer | None:
    """The validity bitmap from bit 0 on, for a new column beside `array`; None where nothing is null."""
    if array.null_count == 0:
        return None
    if array.offset == 0:
        return array.buffers()[0]
    return pa.py_buffer(np.packbits(array.is_valid().to_numpy(zero_copy_only=False), bitorder="little"))


def beside(array: pa.Array, kind: pa.DataType, offsets: np.ndarray, data: np.ndarray) -> pa.Array:
    """New values for `array`, null where that is: a pa.binary() or pa.string() column of offsets and bytes.

    Raises pa.ArrowCapacityError where they would not fit into one array (2 GiB).
    """
    if offsets[-1] > np.iinfo(np.int32).max:
        raise pa.ArrowCapacityError(f"{offsets[-1]} bytes in one column; take fewer rows at once")
    buffers = [validity(array), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data[:offsets[-1]])]
    return pa.Array.from_buffers(kind, len(array), buffers, array.null_count)


def hexadecimal(array: pa.Array) -> pa.Array:
    """A pa.string() column of the digits of bytes, in lower case."""
    offsets, data = value_bytes(array)
    return beside(array, pa.string(), 2 * offsets, np.frombuffer(binascii.hexlify(data.data), np.uint8))
