# mypy: allow-untyped-defs, no-check-untyped-defs
"""Memory by address, for kernels: unaligned loads and stores, byte swaps, copies, prefetch, 128-bit arithmetic.

A binlog is a stream of unaligned little-endian (and, inside rows, big-endian) fields, so kernels work on addresses
instead of typed arrays. All of these are pure LLVM IR and so stay cacheable. None of them checks anything, but in the
checked build (keysearch.checked): the caller compares every address with the end of what it reads, before it reads.

This is the one such module, of `jsondiff` and `applier` too: it lives here because this package is the lowest one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from keysearch import checked, kernel_cache, kernel_compiler
from keysearch.addresses import address_of

_I1, _I8, _I32, _I64, _I128 = (ir.IntType(bits) for bits in (1, 8, 32, 64, 128))

kernel_cache.install()

_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}
_compiled = kernel_compiler.compile_kernels(**_OPTIONS)
inline = checked.inline if checked.ON else kernel_compiler.link_into_kernels(**_OPTIONS)
"""Decorator of a function that only kernels call: compiled into each of them."""
always_inline = inline if checked.ON else kernel_compiler.link_into_kernels(**_OPTIONS, forceinline=True)
"""As `inline`, but never left as a call, whatever its size: for the steps that each turn of a loop takes."""


def kernel(function: Callable[..., Any]) -> Any:
    """Decorate a function that Python calls: compiled once for a machine and kept on disk, if no wheel has it."""
    return checked.kernel(function) if checked.ON else kernel_cache.keep(_compiled(function))


_TAKE: Any = checked.take


@overload(address_of, strict=False)  # it compares annotations, too
def _address_in_kernel(array: Any) -> Any:
    if not checked.ON:
        return lambda array: np.int64(array.ctypes.data)

    def taken(array: Any) -> Any:
        address = np.int64(array.ctypes.data)
        _TAKE(address, array.nbytes)
        return address

    return taken


@inline
def keep(array):
    """A use of an array, for which it is not freed before."""


def _load(number: Any) -> Any:
    memory = ir.IntType(number.bitwidth)

    @intrinsic
    def load(typing_context, address):
        def generate(context, builder, signature, arguments):
            checked.compare(context, builder, "load", arguments[0], number.bitwidth // 8)
            return builder.load(builder.inttoptr(arguments[0], memory.as_pointer()), align=1)

        return number(types.int64), generate

    return load


def _store(number: Any) -> Any:
    memory = ir.IntType(number.bitwidth)

    @intrinsic
    def store(typing_context, address, value):
        def generate(context, builder, signature, arguments):
            checked.compare(context, builder, "store", arguments[0], number.bitwidth // 8)
            builder.store(arguments[1], builder.inttoptr(arguments[0], memory.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, number), generate

    return store


def _swap(bits: int) -> Any:
    word, memory = getattr(types, f"uint{bits}"), ir.IntType(bits)

    @intrinsic
    def swap(typing_context, number):
        def generate(context, builder, signature, arguments):
            return builder.call(builder.module.declare_intrinsic("llvm.bswap", [memory]), [arguments[0]])

        return word(word), generate

    return swap


_UNSIGNED = types.uint8, types.uint16, types.uint32, types.uint64
_SIGNED = types.int8, types.int16, types.int32, types.int64
load_u8, load_u16, load_u32, load_u64 = map(_load, _UNSIGNED)
load_i8, load_i16, load_i32, load_i64 = map(_load, _SIGNED)
store_u8, store_u16, store_u32, store_u64 = map(_store, _UNSIGNED)
store_i8, store_i16, store_i32, store_i64 = map(_store, _SIGNED)
swap16, swap32, swap64 = (_swap(bits) for bits in (16, 32, 64))


@intrinsic
def load_byte(typing_context, address):
    """A byte as int64: of two uint8, Numba would make an unsigned sum."""

    def generate(context, builder, signature, arguments):
        checked.compare(context, builder, "load", arguments[0], 1)
        return builder.zext(builder.load(builder.inttoptr(arguments[0], _I8.as_pointer())), _I64)

    return types.int64(types.int64), generate


@intrinsic
def copy_bytes(typing_context, destination, source, length):
    """Copy exactly `length` bytes between ranges that do not overlap; returns the end of the copy."""

    def generate(context, builder, signature, arguments):
        checked.compare(context, builder, "store", arguments[0], arguments[2])
        checked.compare(context, builder, "load", arguments[1], arguments[2])
        byte = _I8.as_pointer()
        to, origin = (builder.inttoptr(a, byte) for a in arguments[:2])
        copy = builder.module.declare_intrinsic("llvm.memcpy", [byte, byte, _I64])
        builder.call(copy, [to, origin, arguments[2], ir.Constant(_I1, 0)])
        return builder.add(arguments[0], arguments[2])

    return types.int64(types.int64, types.int64, types.int64), generate


@intrinsic
def copy32(typing_context, destination, source):
    """Copy 32 bytes at once: both sides must have them, even if fewer are needed."""
    vector = ir.VectorType(_I64, 4)

    def generate(context, builder, signature, arguments):
        checked.compare(context, builder, "store", arguments[0], 32)
        checked.compare(context, builder, "load", arguments[1], 32)
        to, origin = (builder.inttoptr(a, vector.as_pointer()) for a in arguments)
        builder.store(builder.load(origin, align=1), to, align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def prefetch(typing_context, address):
    """Ask for the cache line at an address that will be read soon; any address is allowed."""

    def generate(context, builder, signature, arguments):
        byte = _I8.as_pointer()
        signature = ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], signature)
        builder.call(fetch, [builder.inttoptr(arguments[0], byte), *(ir.Constant(_I32, n) for n in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def mul_add_128(typing_context, low, high, factor, addend):
    """(high:low) * factor + addend in 128 bits, as (low, high)."""

    def generate(context, builder, signature, arguments):
        low, high, factor, addend = (builder.zext(a, _I128) for a in arguments)
        shift = ir.Constant(_I128, 64)
        product = builder.add(builder.mul(builder.or_(low, builder.shl(high, shift)), factor), addend)
        halves = [builder.trunc(product, _I64), builder.trunc(builder.lshr(product, shift), _I64)]
        return context.make_tuple(builder, signature.return_type, halves)

    word = types.uint64
    return types.UniTuple(word, 2)(word, word, word, word), generate


@intrinsic
def high_product(typing_context, a, b):
    """The upper 64 bits of the product of two uint64."""

    def generate(context, builder, signature, arguments):
        product = builder.mul(*(builder.zext(argument, _I128) for argument in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(_I128, 64)), _I64)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def double_bits(typing_context, value):
    """The 64 bits of a double, as int64."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], _I64)

    return types.int64(types.float64), generate
