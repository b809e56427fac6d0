# mypy: allow-untyped-defs, no-check-untyped-defs
"""Numbers as text at an address: every writer takes where to write and returns where its text ends.

The caller ensures that there is room. Doubles are written by C's printf, as in mysqlbinlog.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from applier.kernels.put_kernel import put_byte
from keysearch.memory import inline

_I8, _I32, _I64 = (ir.IntType(bits) for bits in (8, 32, 64))
_FLOAT, _DOUBLE = ir.FloatType(), ir.DoubleType()


@inline
def put_bits(out, value, width):
    """The lowest `width` bits of a uint64, the highest first."""
    for bit in range(width - 1, -1, -1):
        out = put_byte(out, 48 + (np.int64(value >> np.uint64(bit)) & 1))
    return out


def _printf(layout: bytes, source: ir.Type) -> Any:
    """A writer by C's format of the number of a type that lies at an address: (out, room, address) to the length of the
    text."""
    text = layout + b"\0"

    @intrinsic
    def write(typing_context, out, room, address):
        def generate(context, builder, signature, arguments):
            module, pointer = builder.module, _I8.as_pointer()
            kind = ir.ArrayType(_I8, len(text))
            name = f".show.format.{text.hex()}"
            constant = module.globals.get(name)
            if constant is None:
                constant = ir.GlobalVariable(module, kind, name)
                constant.linkage, constant.global_constant = "internal", True
                constant.initializer = ir.Constant(kind, bytearray(text))
            print_ = module.globals.get("snprintf") or ir.Function(
                module, ir.FunctionType(_I32, [pointer, _I64, pointer], var_arg=True), "snprintf")
            number = builder.load(builder.inttoptr(arguments[2], source.as_pointer()), align=1)
            number = builder.fpext(number, _DOUBLE) if source is _FLOAT else number
            bit = builder.inttoptr(arguments[0], pointer)
            length = builder.call(print_, [bit, arguments[1], builder.bitcast(constant, pointer), number])
            return builder.sext(length, _I64)

        return types.int64(types.int64, types.int64, types.int64), generate

    return write


print_float, print_double = _printf(b"%g", _FLOAT), _printf(b"%.20g", _DOUBLE)
print_element = _printf(b"%.5e", _FLOAT)
LONGEST_DOUBLE = 40
"""Bytes that any of these writes, at most."""
