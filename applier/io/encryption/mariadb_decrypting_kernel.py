# mypy: allow-untyped-defs, no-check-untyped-defs
"""Encrypted MariaDB events, many at a time: the input for a block cipher, and the interpretation of its output.

    ciphertext of an event   bytes 4 to 9, bytes 0 to 4, and all from 13 on; bytes 9 to 13 are its length, unencrypted
    vector                   the file's nonce (12 bytes), the event's position u32
    AES_CBC                  without padding; a rest of less than a block is combined with the encrypted vector
    AES_CTR                  the vector is the first counter

So one call of the cipher without chaining answers for all blocks of all events, and an exclusive or does the rest.
Events are in [0, end) of memory, and the last one may be cut off. In the cipher's memory each event begins a block.
"""

import numpy as np

from keysearch.memory import (
    copy_bytes,
    inline,
    kernel,
    load_byte,
    load_u32,
    load_u64,
    store_u8,
    store_u32,
    store_u64,
    swap64,
)

BLOCK = 16
_NONCE = 12
_LENGTH_AT, _AFTER_LENGTH, _FIRST_PART = 9, 13, 5
LEAST = 19
"""The fewest bytes of an event: its header."""


@inline
def _blocks(size):
    """Of an event of this size."""
    return (size - 4 + BLOCK - 1) // BLOCK


@kernel
def whole_events(data, end, most, totals):
    """Where the first event begins of those in [0, end) that is not whole, or that has less than a header or more than
    `most` bytes by its length. `totals` gets the numbers of events and of blocks, int64."""
    at = n_events = n_blocks = 0
    while at + LEAST <= end:
        size = np.int64(load_u32(data + at + _LENGTH_AT))
        if size < LEAST or size > most or size > end - at:
            break
        n_events += 1
        n_blocks += _blocks(size)
        at += size
    totals[0], totals[1] = n_events, n_blocks
    return at


@kernel
def gather(data, end, position, nonce, blocks, vectors):
    """Copy the events' ciphertext to `blocks`, and their vectors to `vectors`; [0, end) begins at `position` of the
    file."""
    at, event = 0, 0
    while at < end:
        size = min(np.int64(load_u32(data + at + _LENGTH_AT)), end - at)
        copy_bytes(blocks, data + at + 4, _FIRST_PART)
        copy_bytes(blocks + _FIRST_PART, data + at, 4)
        copy_bytes(blocks + 9, data + at + _AFTER_LENGTH, size - _AFTER_LENGTH)
        copy_bytes(vectors + event * BLOCK, nonce, _NONCE)
        store_u32(vectors + event * BLOCK + _NONCE, np.uint32(position + at))
        blocks += _blocks(size) * BLOCK
        event += 1
        at += size


@kernel
def count_on(data, end, vectors, counters):
    """For AES_CTR: each event's counters, a block each, from its vector on, as numbers of 128 bits."""
    at, event = 0, 0
    while at < end:
        size = min(np.int64(load_u32(data + at + _LENGTH_AT)), end - at)
        high, low = swap64(load_u64(vectors + event * BLOCK)), swap64(load_u64(vectors + event * BLOCK + 8))
        for _ in range(_blocks(size)):
            store_u64(counters, swap64(high))
            store_u64(counters + 8, swap64(low))
            low += np.uint64(1)
            high += np.uint64(low == np.uint64(0))
            counters += BLOCK
        event += 1
        at += size


@inline
def _combine(into, a, b):
    """A block of exclusive or."""
    store_u64(into, load_u64(a) ^ load_u64(b))
    store_u64(into + 8, load_u64(a + 8) ^ load_u64(b + 8))


@inline
def _put(data, at, size, plain):
    """Write an event's plain bytes back to its address."""
    copy_bytes(data + at + 4, plain, _FIRST_PART)
    copy_bytes(data + at, plain + _FIRST_PART, 4)
    copy_bytes(data + at + _AFTER_LENGTH, plain + 9, size - _AFTER_LENGTH)


@kernel
def scatter_chained(data, end, blocks, answers, vectors, masks):
    """For AES_CBC: decrypt the events. `answers` are the blocks, each decrypted by itself, `masks` the encrypted
    vectors."""
    at, event = 0, 0
    while at < end:
        size = min(np.int64(load_u32(data + at + _LENGTH_AT)), end - at)
        before, count = vectors + event * BLOCK, (size - 4) // BLOCK
        for number in range(count):
            here = number * BLOCK
            _combine(answers + here, answers + here, before)
            before = blocks + here
        for byte_at in range(count * BLOCK, size - 4):
            mask = load_byte(masks + event * BLOCK + byte_at - count * BLOCK)
            store_u8(answers + byte_at, np.uint8(load_byte(blocks + byte_at) ^ mask))
        _put(data, at, size, answers)
        blocks += _blocks(size) * BLOCK
        answers += _blocks(size) * BLOCK
        event += 1
        at += size


@kernel
def scatter_counted(data, end, blocks, answers):
    """For AES_CTR: decrypt the events. `answers` are the encrypted counters."""
    at = 0
    while at < end:
        size = min(np.int64(load_u32(data + at + _LENGTH_AT)), end - at)
        for number in range(_blocks(size)):
            _combine(answers + number * BLOCK, answers + number * BLOCK, blocks + number * BLOCK)
        _put(data, at, size, answers)
        blocks += _blocks(size) * BLOCK
        answers += _blocks(size) * BLOCK
        at += size
