# mypy: allow-untyped-defs, no-check-untyped-defs
"""Typed views of memory: what a C programmer writes as `((State *)address)->live += 1`."""

from typing import Any

import numpy as np
from numba import from_dtype, types
from numba.extending import intrinsic

from keysearch import checked


def struct(name: str, **fields: Any) -> tuple[np.dtype, Any, Any]:
    """A layout of fields, aligned as C does it, as (dtype, view, at).

    In kernels `view(address)` is the record at an address, `at(address, index)` one of an array of them: a field of
    either is read and set by its name, in place. Python gets at the same memory through an array of the dtype.
    """
    dtype = np.dtype(list(fields.items()), align=True)
    look, record = _look(name, dtype)

    @intrinsic
    def at(typing_context, address, index):
        def generate(context, builder, signature, arguments):
            address, index = arguments
            return look(context, builder, builder.add(address, builder.mul(index, index.type(dtype.itemsize))))

        return record(types.int64, types.int64), generate

    return dtype, _view(look, record), at


def packed(name: str, **fields: Any) -> tuple[np.dtype, Any]:
    """A layout of fields without gaps, at any address, as the bytes of a log are; as (dtype, view)."""
    dtype = np.dtype(list(fields.items()))
    return dtype, _view(*_look(name, dtype))


def offset(dtype: np.dtype, field: str) -> int:
    """Where a field begins, in bytes from the record's start."""
    assert dtype.fields is not None
    return int(dtype.fields[field][1])


def _look(name: str, dtype: np.dtype) -> tuple[Any, Any]:
    record = from_dtype(dtype)

    def look(context: Any, builder: Any, address: Any) -> Any:
        checked.compare(context, builder, f"look at {name}", address, dtype.itemsize)
        return builder.inttoptr(address, context.get_value_type(record))

    return look, record


def _view(look: Any, record: Any) -> Any:
    @intrinsic
    def view(typing_context, address):
        def generate(context, builder, signature, arguments):
            return look(context, builder, arguments[0])

        return record(types.int64), generate

    return view
