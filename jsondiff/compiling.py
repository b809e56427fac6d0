# mypy: allow-untyped-defs, no-check-untyped-defs
"""How the kernels of this package are compiled, and what they need that Numba's arrays do not give."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

kernel = njit(cache=True, nogil=True, error_model="numpy")
"""Decorator of a function that Python calls: compiled once for a machine and kept on disk."""
inline = njit(nogil=True, error_model="numpy")
"""Decorator of a function that only kernels call: compiled into each of them."""


@inline
def address(array):
    """Where an array's items are, as int64: with the uint64 that Numba gives, sums of places would be doubles.

    In a kernel an array is freed behind its last use: one that the kernel made itself must still be used behind the
    last use of its address, as by `keep`."""
    return np.int64(array.ctypes.data)


@inline
def keep(array):
    """A use of an array, for which it is not freed before."""


def _load(bits: int) -> Any:
    @intrinsic
    def load(typing_context, address):
        def generate(context, builder, signature, arguments):
            place = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            number = builder.load(place, align=1)
            if bits == 64:
                return number
            return (builder.zext if bits == 8 else builder.sext)(number, ir.IntType(64))

        return types.int64(types.int64), generate

    return load


def _store(bits: int) -> Any:
    @intrinsic
    def store(typing_context, address, number):
        def generate(context, builder, signature, arguments):
            kind = ir.IntType(bits)
            number = arguments[1] if bits == 64 else builder.trunc(arguments[1], kind)
            builder.store(number, builder.inttoptr(arguments[0], kind.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return store


byte_at, int32_at, int64_at = _load(8), _load(32), _load(64)
"""What is at an address, as int64. Nothing is checked: the caller has compared the address with the end of what it
reads. (An array as an argument is counted at each call, and its negative indices are looked for at each access.)"""
put_byte, put_int16, put_int32, put_int64 = _store(8), _store(16), _store(32), _store(64)
"""Put an int64, or the lowest bits of one, at an address; unchecked likewise."""


@intrinsic
def copy_bytes(typing_context, at, end, to):
    """Copies what is at at:end to a place that does not overlap it; returns where the copy ends. Unchecked likewise."""

    def generate(context, builder, signature, arguments):
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(64)
        at, end, to = arguments
        size, no = builder.sub(end, at), ir.Constant(ir.IntType(1), 0)
        copy = builder.module.declare_intrinsic("llvm.memcpy", [byte, byte, word])
        builder.call(copy, [builder.inttoptr(to, byte), builder.inttoptr(at, byte), size, no])
        return builder.add(to, size)

    return types.int64(types.int64, types.int64, types.int64), generate


@intrinsic
def high_product(typing_context, a, b):
    """The upper 64 bits of the product of two uint64."""

    def generate(context, builder, signature, arguments):
        word, wide = ir.IntType(64), ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), word)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def double_bits(typing_context, value):
    """The 64 bits of a double, as int64."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate
