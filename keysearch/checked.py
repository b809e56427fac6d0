# mypy: allow-untyped-defs, no-check-untyped-defs
"""The checked build of the kernels: every load, store and copy is checked against the memory that it may touch.

`APPLIER_KERNELS=checked` turns it on for a process and those that it starts. Memory may be touched from when its
address is taken (`addresses.address_of`) until its owner is freed; an array whose address a kernel takes itself, until
Python's call of a kernel ends. A wild access is not performed: WildAccess is raised, which names the kernel's file and
line. Indices of arrays are compared with their bounds, too. Kernels hold the GIL in this build, so that no thread
registers memory while one runs. Its machine code is kept apart from the other build's.
"""

from typing import Any

import llvmlite.binding
import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from keysearch import kernel_cache, numba_private
from keysearch.addresses import (
    BAD,
    BAD_SIZE,
    COUNT,
    ENDS,
    IS_CHECKED,
    LAST,
    MOST_TAKEN,
    STARTS,
    TABLE,
    TAKEN,
    WORDS,
    short_path,
)

ON = IS_CHECKED

_I64 = ir.IntType(64)
_HEAD, _IS_REGISTERED, _TAKE = "applier_registered", "applier_is_registered", "applier_take"
"""Symbols that machine code refers to: it is kept on disk, where addresses would be another process's."""


class WildAccess(Exception):
    """A kernel touched memory that it may not touch. `said` is the message, where it was made by another process."""

    def __init__(self, action: str, file: str, line: int, function: str, said: str = "") -> None:
        self._source = action, file, line, function
        self._said = said or f"{TABLE.describe_bad(action)}, in {function} ({file}:{line})"
        super().__init__(self._said)

    def __reduce__(self) -> tuple[type["WildAccess"], tuple[Any, ...]]:
        return WildAccess, (*self._source, self._said)


class _CheckedKernel(numba_private.CompiledKernel):
    """A kernel during whose call no memory is registered."""

    def __call__(self, *arguments: Any) -> Any:
        with TABLE.lock:
            TABLE.forget_freed()
            try:
                return super().__call__(*arguments)
            finally:
                TABLE.forget_taken()


def kernel(function: Any) -> numba_private.Kernel:
    """Decorate a function that Python calls, as `memory.kernel` does in the other build."""
    made: numba_private.Kernel = kernel_cache.keep(inline(function))
    made.__class__ = _CheckedKernel
    return made


inline = numba.njit(nogil=False, error_model="numpy", boundscheck=True)
"""Decorator of a function that only kernels call, as `memory.inline` is in the other build."""


def compare(context: Any, builder: Any, action: str, address: Any, size: Any) -> None:
    """Generate the comparison before an access of `size` bytes; none in the other build."""
    if not ON:
        return
    size = size if isinstance(size, ir.Value) else ir.Constant(_I64, size)
    is_registered = builder.call(_function(builder.module, _IS_REGISTERED), [address, size])
    with builder.if_then(builder.icmp_signed("==", is_registered, ir.Constant(_I64, 0)), likely=False):
        _raise(context, builder, action)


def _compare_index(context: Any, builder: Any, index: Any, length: Any, axis: Any = None) -> None:
    """What Numba generates before an access of an array, except for the source line that the exception names."""
    with builder.if_then(builder.icmp_unsigned(">=", index, length), likely=False):
        head = builder.bitcast(_head_pointer(builder.module), _I64.as_pointer())
        for word, value in ((BAD, index), (BAD_SIZE, length)):
            builder.store(value, builder.gep(head, [ir.Constant(_I64, word)]))
        _raise(context, builder, "index")


def _raise(context: Any, builder: Any, action: str) -> None:
    file, line, function = numba_private.source_line()
    numba_private.generate_raise(context, builder, WildAccess, (action, short_path(file), line, function))


def _head_pointer(module: ir.Module) -> ir.GlobalVariable:
    known = module.globals.get(_HEAD)
    return known if known is not None else ir.GlobalVariable(module, ir.IntType(8), _HEAD)


def _function(module: ir.Module, name: str) -> ir.Function:
    known = module.globals.get(name)
    return known if known is not None else ir.Function(module, ir.FunctionType(_I64, [_I64, _I64]), name)


@intrinsic
def take(typing_context, address, size):
    """Have kernels touch an array whose address one of them takes, until Python's call of a kernel ends."""

    def generate(context, builder, signature, arguments):
        builder.call(_function(builder.module, _TAKE), arguments)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def _head_words(typing_context):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(_head_pointer(builder.module), _I64.as_pointer())

    return types.CPointer(types.int64)(), generate


@intrinsic
def _words_at(typing_context, address):
    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], _I64.as_pointer())

    return types.CPointer(types.int64)(types.int64), generate


_HEAD_WORDS: Any = _head_words
_WORDS_AT: Any = _words_at


def _is_registered(address: Any, size: Any) -> Any:
    head: Any = _HEAD_WORDS()
    if size == 0:
        return 1
    if size > 0:
        count, starts, ends = head[COUNT], _WORDS_AT(head[STARTS]), _WORDS_AT(head[ENDS])
        last = head[LAST]
        if last < count and starts[last] <= address and size <= ends[last] - address:
            return 1
        low, high = 0, count
        while low < high:
            middle = (low + high) >> 1
            if starts[middle] <= address:
                low = middle + 1
            else:
                high = middle
        if low and size <= ends[low - 1] - address:
            head[LAST] = low - 1
            return 1
        for number in range(min(head[TAKEN], MOST_TAKEN)):
            at = WORDS + 2 * number
            if head[at] <= address and size <= head[at + 1] - address:
                return 1
    head[BAD], head[BAD_SIZE] = address, size
    return 0


def _take(address: Any, size: Any) -> Any:
    head: Any = _HEAD_WORDS()
    for number in range(min(head[TAKEN], MOST_TAKEN)):
        at = WORDS + 2 * number
        if head[at] == address and head[at + 1] == address + size:
            return 0
    at = WORDS + 2 * (head[TAKEN] % MOST_TAKEN)
    head[at], head[at + 1] = address, address + size
    head[TAKEN] += 1
    return 0


if ON:
    kernel_cache.install()
    llvmlite.binding.add_symbol(_HEAD, TABLE.head.ctypes.data)
    numba_private.compare_indices_by(_compare_index)
    _compiled = [numba.cfunc("int64(int64, int64)", cache=True)(function) for function in (_is_registered, _take)]
    for _symbol, _made in zip((_IS_REGISTERED, _TAKE), _compiled):
        llvmlite.binding.add_symbol(_symbol, _made.address)
