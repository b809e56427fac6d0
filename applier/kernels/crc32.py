# mypy: allow-untyped-defs, no-check-untyped-defs
"""CRC32 (the one of zlib, polynomial 0xEDB88320) for kernels: by carry-less multiplication if the processor has it.

Folding follows Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009).
The start is special here: binlog events are short and of any length, so the bytes before whole blocks are taken first,
shifted to the end of a block of 16 whose other bytes are zero. Zeros before a message do not change a remainder, so no
table is needed for the rest of any message of 16 bytes or more. Other processors, and shorter messages, use slicing
tables.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from keysearch import processor
from keysearch.memory import inline, load_u8, load_u32
from keysearch.numba_private import global_constant

HAS_CARRYLESS_MULTIPLY = processor.chosen().has("pclmul", "ssse3")
"""Of the processor that kernels are compiled for, which may be less than this one."""

_POLYNOMIAL = 0xEDB88320
_BLOCK = 16


def _slicing_tables() -> np.ndarray:
    """tables[k, b]: what byte b does to the remainder when k more bytes follow it. np.uint32[8, 256]"""
    tables = np.zeros((8, 256), np.uint32)
    remainder = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        remainder = (remainder >> np.uint32(1)) ^ np.where(remainder & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    tables[0] = remainder
    for k in range(1, 8):
        tables[k] = (tables[k - 1] >> 8) ^ tables[0][tables[k - 1] & 0xFF]
    return tables


_TABLES = _slicing_tables()


def _power_of_x(exponent: int) -> int:
    """x^exponent modulo the polynomial, bit-reflected over 33 bits as a carry-less multiplication needs it."""
    remainder = 1
    for _ in range(exponent):
        remainder <<= 1
        if remainder >> 32:
            remainder ^= 0x104C11DB7
    return int(f"{remainder:033b}"[::-1], 2)


# A block of 128 bits moves on by d bits: its low half times x^(d+32), its high half times x^(d-32).
_FOLD_4 = [_power_of_x(4 * 128 + 32), _power_of_x(4 * 128 - 32)]
_FOLD_1 = [_power_of_x(128 + 32), _power_of_x(128 - 32)]
_FOLD_64 = [_power_of_x(64), 0]
_BARRETT = [0x1DB710641, 0x1F7011641]  # the polynomial, and floor(x^64 / polynomial), both reflected


@inline
def crc32_tables(address, length, seed):
    """CRC32 of `length` bytes, eight at a time through tables. `seed` is the CRC of the bytes before, or 0."""
    mask = np.uint32(0xFF)
    crc = np.uint32(~np.uint32(seed))
    at, end = address, address + length
    while at + 8 <= end:
        low, high = load_u32(at) ^ crc, load_u32(at + 4)
        crc = (
            _TABLES[7, low & mask]
            ^ _TABLES[6, (low >> np.uint32(8)) & mask]
            ^ _TABLES[5, (low >> np.uint32(16)) & mask]
            ^ _TABLES[4, low >> np.uint32(24)]
            ^ _TABLES[3, high & mask]
            ^ _TABLES[2, (high >> np.uint32(8)) & mask]
            ^ _TABLES[1, (high >> np.uint32(16)) & mask]
            ^ _TABLES[0, high >> np.uint32(24)]
        )
        at += 8
    while at < end:
        crc = _TABLES[0, (crc ^ load_u8(at)) & mask] ^ (crc >> np.uint32(8))
        at += 1
    return np.uint32(~crc)


class _Vectors:
    """The few operations on blocks of 128 bits that folding is made of, written as LLVM IR."""

    word, block, wide = ir.IntType(64), ir.VectorType(ir.IntType(64), 2), ir.IntType(128)
    octets = ir.VectorType(ir.IntType(8), _BLOCK)

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.builder = builder
        self._multiply = self._instruction("llvm.x86.pclmulqdq", self.block, [self.block, self.block, ir.IntType(8)])
        self._shuffle = self._instruction("llvm.x86.ssse3.pshuf.b.128", self.octets, [self.octets, self.octets])

    def _instruction(self, name: str, result: ir.Type, arguments: list[ir.Type]) -> ir.Function:
        module = self.builder.module
        return module.globals.get(name) or ir.Function(module, ir.FunctionType(result, arguments), name)

    def constant(self, words: list[int]) -> ir.Constant:
        return ir.Constant(self.block, words)

    def number(self, value: int) -> ir.Constant:
        return ir.Constant(self.word, value)

    def load(self, address: ir.Value) -> ir.Value:
        return self.builder.load(self.builder.inttoptr(address, self.block.as_pointer()), align=1)

    def multiply(self, a: ir.Value, b: ir.Value, halves: int) -> ir.Value:
        """Carry-less product of one half of each: bit 0 of `halves` picks a's, bit 4 picks b's."""
        return self.builder.call(self._multiply, [a, b, ir.Constant(ir.IntType(8), halves)])

    def xor(self, *values: ir.Value) -> ir.Value:
        result = values[0]
        for value in values[1:]:
            result = self.builder.xor(result, value)
        return result

    def fold(self, block: ir.Value, powers: list[int], following: ir.Value) -> ir.Value:
        """Advance `block` by the distance of `powers`, onto the block at that position."""
        by = self.constant(powers)
        return self.xor(self.multiply(block, by, 0x00), self.multiply(block, by, 0x11), following)

    def shift_right(self, block: ir.Value, bits: int) -> ir.Value:
        moved = self.builder.lshr(self.builder.bitcast(block, self.wide), ir.Constant(self.wide, bits))
        return self.builder.bitcast(moved, self.block)

    def first_bytes_last(self, block: ir.Value, count: ir.Value) -> ir.Value:
        """The first `count` bytes of a block at its end, after zeros: picked by (16 × none, 0, 1, …, 15)."""
        window = ir.ArrayType(ir.IntType(8), 2 * _BLOCK)
        table = global_constant(
            self.builder, "crc32_window", ir.Constant(window, [0x80] * _BLOCK + list(range(_BLOCK)))
        )
        start = self.builder.add(self.builder.ptrtoint(table, self.word), count)
        picks = self.builder.bitcast(self.load(start), self.octets)
        picked = self.builder.call(self._shuffle, [self.builder.bitcast(block, self.octets), picks])
        return self.builder.bitcast(picked, self.block)

    def low_word(self, value: ir.Value) -> ir.Value:
        return self.builder.insert_element(self.constant([0, 0]), value, ir.Constant(ir.IntType(32), 0))

    def reduce(self, block: ir.Value) -> ir.Value:
        """The remainder (32 bits) of a last block: 128 bits to 96, to 64, then Barrett's reduction."""
        low_32 = self.constant([0xFFFFFFFF, 0xFFFFFFFF])
        block = self.xor(self.multiply(block, self.constant(_FOLD_1), 0x10), self.shift_right(block, 64))
        low = self.builder.and_(block, low_32)
        block = self.xor(self.multiply(low, self.constant(_FOLD_64), 0x00), self.shift_right(block, 32))
        quotient = self.multiply(self.builder.and_(block, low_32), self.constant(_BARRETT), 0x10)
        product = self.multiply(self.builder.and_(quotient, low_32), self.constant(_BARRETT), 0x00)
        words = self.builder.bitcast(self.xor(block, product), ir.VectorType(ir.IntType(32), 4))
        return self.builder.extract_element(words, ir.Constant(ir.IntType(32), 1))


@intrinsic
def _crc32_fold(typing_context, address, length, register):
    """The CRC register after `length` >= 16 bytes (any number), from the register before them."""

    def generate(context, builder, signature, arguments):
        address, length, register = arguments
        v = _Vectors(builder)
        # The first 1 to 16 bytes, so that whole blocks follow. The register goes into the first four bytes of the
        # message, and so partly into the second block where the first one is shorter than that.
        start = v.low_word(builder.zext(register, v.word))
        first = builder.add(builder.and_(builder.sub(length, v.number(1)), v.number(_BLOCK - 1)), v.number(1))
        bits = builder.shl(first, v.number(3))
        lead = v.first_bytes_last(v.xor(v.load(address), start), first)
        short = builder.icmp_unsigned("<", first, v.number(4))
        carried = builder.lshr(builder.zext(register, v.word), builder.select(short, bits, v.number(32)))
        carry = v.low_word(carried)
        end = builder.add(address, length)
        second = builder.add(address, first)

        entry = builder.block
        four = builder.append_basic_block("crc.four")
        joined = builder.append_basic_block("crc.join")
        one = builder.append_basic_block("crc.one")
        done = builder.append_basic_block("crc.done")
        builder.cbranch(builder.icmp_unsigned(">=", builder.sub(end, second), v.number(3 * _BLOCK)), four, one)

        # Four blocks side by side: the multiplications of one do not wait for those of another.
        builder.position_at_end(four)
        lanes = [lead] + [v.load(builder.add(second, v.number(_BLOCK * i))) for i in range(3)]
        lanes[1] = v.xor(lanes[1], carry)
        at = builder.add(second, v.number(3 * _BLOCK))
        loop = builder.append_basic_block("crc.loop")
        body = builder.append_basic_block("crc.body")
        builder.branch(loop)
        builder.position_at_end(loop)
        at_now = builder.phi(v.word)
        at_now.add_incoming(at, four)
        now = [builder.phi(v.block) for _ in lanes]
        for phi, lane in zip(now, lanes, strict=True):
            phi.add_incoming(lane, four)
        enough = builder.icmp_unsigned(">=", builder.sub(end, at_now), v.number(4 * _BLOCK))
        builder.cbranch(enough, body, joined)
        builder.position_at_end(body)
        for i, phi in enumerate(now):
            phi.add_incoming(v.fold(phi, _FOLD_4, v.load(builder.add(at_now, v.number(_BLOCK * i)))), body)
        at_now.add_incoming(builder.add(at_now, v.number(4 * _BLOCK)), body)
        builder.branch(loop)
        builder.position_at_end(joined)
        single = now[0]
        for lane in now[1:]:
            single = v.fold(single, _FOLD_1, lane)
        builder.branch(one)

        # One block at a time for the rest. The carry is still to come where the four-block part was left out.
        builder.position_at_end(one)
        at_one, block, pending = builder.phi(v.word), builder.phi(v.block), builder.phi(v.block)
        at_one.add_incoming(second, entry)
        block.add_incoming(lead, entry)
        pending.add_incoming(carry, entry)
        at_one.add_incoming(at_now, joined)
        block.add_incoming(single, joined)
        pending.add_incoming(v.constant([0, 0]), joined)
        step = builder.append_basic_block("crc.step")
        builder.cbranch(builder.icmp_unsigned("<", at_one, end), step, done)
        builder.position_at_end(step)
        block.add_incoming(v.fold(block, _FOLD_1, v.xor(v.load(at_one), pending)), step)
        at_one.add_incoming(builder.add(at_one, v.number(_BLOCK)), step)
        pending.add_incoming(v.constant([0, 0]), step)
        builder.branch(one)
        builder.position_at_end(done)
        return v.reduce(block)

    return types.uint32(types.int64, types.int64, types.uint32), generate


@inline
def crc32_carryless(address, length, seed):
    """CRC32 of `length` bytes by carry-less multiplication; only where HAS_CARRYLESS_MULTIPLY."""
    if length < _BLOCK:
        return crc32_tables(address, length, seed)
    return np.uint32(~_crc32_fold(address, length, np.uint32(~np.uint32(seed))))


crc32 = crc32_carryless if HAS_CARRYLESS_MULTIPLY else crc32_tables
"""crc32(address: int64, length: int64, seed: uint32) -> uint32, as zlib.crc32(bytes, seed). Inlined into kernels."""
