# mypy: allow-untyped-defs, no-check-untyped-defs
"""The kernel that tells whether text is UTF-8 (RFC 3629), many bytes at once.

For each byte it is enough to look at the three before it: they tell whether it has to continue a character, and which
bytes may not, since the character would be written in more bytes than it takes, a surrogate, or beyond U+10FFFF.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from keysearch.addresses import address_of
from keysearch.memory import copy_bytes, keep, kernel

_BLOCK = 32
_ASCII_BLOCKS = 16  # that are looked at together, as long as all of them are ASCII
_ASCII_BYTES = _ASCII_BLOCKS * _BLOCK


@intrinsic
def _is_ascii(typing_context, at):
    """Return whether the _ASCII_BYTES bytes at `at` are ASCII. Unchecked."""

    def generate(context, builder, signature, arguments):
        kind, words = ir.VectorType(ir.IntType(8), _BLOCK), ir.IntType(8 * _BLOCK)
        any_bits = ir.Constant(kind, [0] * _BLOCK)
        for block in range(_ASCII_BLOCKS):
            address = builder.add(arguments[0], ir.Constant(ir.IntType(64), block * _BLOCK))
            any_bits = builder.or_(any_bits, builder.load(builder.inttoptr(address, kind.as_pointer()), align=1))
        high = builder.and_(any_bits, ir.Constant(kind, [0x80] * _BLOCK))
        return builder.icmp_unsigned("==", builder.bitcast(high, words), ir.Constant(words, 0))

    return types.boolean(types.int64), generate


@intrinsic
def _follows(typing_context, at):
    """Return whether the _BLOCK bytes at `at` may stand behind the three before them. Unchecked."""

    def generate(context, builder, signature, arguments):
        kind = ir.VectorType(ir.IntType(8), _BLOCK)

        def bytes_before(distance):
            address = builder.sub(arguments[0], ir.Constant(ir.IntType(64), distance))
            return builder.load(builder.inttoptr(address, kind.as_pointer()), align=1)

        def test(how, bytes_, byte):
            return builder.icmp_unsigned(how, bytes_, ir.Constant(kind, [byte] * _BLOCK))

        def any_of(first, *others):
            for other in others:
                first = builder.or_(first, other)
            return first

        byte, last, second, third = (bytes_before(distance) for distance in range(4))
        continues = builder.and_(test(">=", byte, 0x80), test("<", byte, 0xC0))
        must_continue = any_of(test(">=", last, 0xC0), test(">=", second, 0xE0), test(">=", third, 0xF0))
        pairs = ((0xE0, "<", 0xA0), (0xED, ">=", 0xA0), (0xF0, "<", 0x90), (0xF4, ">=", 0x90))
        bad = any_of(
            builder.xor(continues, must_continue),
            builder.and_(test(">=", byte, 0xC0), test("<", byte, 0xC2)),
            test(">=", byte, 0xF5),
            *(builder.and_(test("==", last, lead), test(how, byte, bound)) for lead, how, bound in pairs),
        )
        bits = ir.IntType(_BLOCK)
        return builder.icmp_unsigned("==", builder.bitcast(bad, bits), ir.Constant(bits, 0))

    return types.boolean(types.int64), generate


@kernel
def is_utf8(data):
    """Return whether data (uint8) is UTF-8."""
    block = np.zeros(3 + _BLOCK, np.uint8)  # with the three bytes before it; its last byte at least stays 0
    room = address_of(block)
    start, end = address_of(data), address_of(data) + len(data)
    at = min(start + _BLOCK, end)
    copy_bytes(room + 3, start, at - start)
    good = _follows(room + 3)
    while good and end - at >= _BLOCK:
        if end - at >= _ASCII_BYTES and _is_ascii(at - _BLOCK):
            at += _ASCII_BYTES - _BLOCK
            continue
        for _ in range(min(_ASCII_BLOCKS, (end - at) // _BLOCK)):
            good &= _follows(at)
            at += _BLOCK
    if good and end - start >= _BLOCK:
        block[:] = 0
        copy_bytes(room, at - 3, end - at + 3)
        good = _follows(room + 3)
    keep(block)
    return good
