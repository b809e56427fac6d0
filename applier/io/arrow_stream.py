"""Record batches for Arrow's PyCapsule interface, with readable errors.

An error of a Python iterator reaches a consumer of pyarrow's streams as text, with a Python traceback in it. For an
ApplierError, that text is one line here: its class and its message. The consumer raises its own error with it.
Source: Apache Arrow, "The Arrow C stream interface".
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from applier.errors import ApplierError

_STREAM = b"arrow_array_stream"
_MOST_TEXTS = 64
_TRACEBACK = b". Detail: Python exception:"
_UNKNOWN = b"Unknown error: "
"""The text that pyarrow puts before an error that is not its own, and what separates them."""


class _Stream(ctypes.Structure):
    """ArrowArrayStream: callbacks, and the data that they need."""

    _fields_ = [(name, ctypes.c_void_p) for name in (
        "get_schema", "get_next", "get_last_error", "release", "private_data")]


_GetLastError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_pyarrows = dict[int, Any]()
"""pyarrow's get_last_error, by address: there is one."""
_texts: deque[Any] = deque(maxlen=_MOST_TEXTS)
"""The last ones that were given: a text has to live until the stream is used again."""


class _Failed(Exception):
    """An error with its kind as a part of its text."""


_FAILED = f"{_Failed.__module__}.{_Failed.__name__}: ".encode()
"""In the last line of a traceback."""


def _error_text(stream: int) -> int | None:
    """Return the text of a stream's error, of an ApplierError without the traceback."""
    [pyarrows] = _pyarrows.values()
    if not (address := pyarrows(stream)):
        return None
    text = ctypes.string_at(address)
    if _FAILED in text:
        text = b" ".join(text.partition(_TRACEBACK)[0].removeprefix(_UNKNOWN).split())
    _texts.append(ctypes.create_string_buffer(text))
    return ctypes.addressof(_texts[-1])


_last_error = _GetLastError(_error_text)

def exported(schema: pa.Schema, batches: Iterator[pa.RecordBatch], requested_schema: object = None) -> object:
    """Return a capsule with a stream of batches of this schema."""
    capsule: object = pa.RecordBatchReader.from_batches(schema, _named(batches)).__arrow_c_stream__(requested_schema)
    stream = _Stream.from_address(_pointer_of(capsule, _STREAM))
    _pyarrows.setdefault(stream.get_last_error, _GetLastError(stream.get_last_error))
    stream.get_last_error = ctypes.cast(_last_error, ctypes.c_void_p).value
    return capsule


def _named(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except ApplierError as error:
        raise _Failed(f"{type(error).__name__}: {error}") from error
