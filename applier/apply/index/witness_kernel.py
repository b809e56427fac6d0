# mypy: allow-untyped-defs, no-check-untyped-defs
"""The before-images of a batch against the rows that they find: the kernels' side of the witness.

A row that is a whole image of the log has the hash of that image beside its pointer. A whole before-image with the same
columns and the same hash agrees with the row, and costs one pass over its bytes. All others are *disputed*: their
values are compared later, in bulk. What a disputed row was must outlive the change, so column pointers are copied.
"""

import numpy as np

from applier.apply.index.pointer_kernel import is_whole
from applier.apply.index.watched_kernel import held_pointer
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT, MAX_IMAGE_ID
from keysearch.memory import always_inline, inline, load_i32, load_i64, load_u8, load_u64
from keysearch.records import struct

WITNESS, witness_at, _ = struct("witness", **dict.fromkeys((
    "before_images", "before_lengths", "image_lengths", "comparable", "agreed", "disputed", "n_disputed"), np.int64))
"""Addresses of the batch's arrays (change_records.BATCH) and of `comparable` (uint8[layout]): whether before-images of
a layout have a column that their row was not found by. `agreed` counts before-images; `disputed` has room for a batch.
"""
DISPUTED, _, disputed_at = struct("disputed image", change=np.int64, held=np.int64)
"""The number of a change in its batch, and a pointer to the row as it was before the change."""
NO_HASH = 0
"""The hash of a row whose pointer does not lead to a whole image, or that came before the witness looked."""

_ADDRESS = (np.int64(1) << IMAGE_ID_SHIFT) - 1
_KEY, _STEP = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_LOW = np.uint64(0xFFFFFFFF)


@always_inline
def _mixed(word, key):
    """A product of both halves of a word, which the key tells from the same word elsewhere."""
    keyed = word ^ key
    return word + (keyed & _LOW) * (keyed >> np.uint64(32))


@inline
def image_hash(image, length):
    """31 bits of the bytes at an image pointer and of its layout; never NO_HASH."""
    address, layout = image & _ADDRESS, np.uint64(image >> IMAGE_ID_SHIFT)
    total, key = (layout + np.uint64(1)) * _STEP ^ np.uint64(length), _KEY
    words = length >> 3
    for i in range(words):
        total += _mixed(load_u64(address + 8 * i), key)
        key += _STEP
    if length >= 8:
        total += _mixed(load_u64(address + length - 8), key)  # which overlaps the last whole word
    else:
        for i in range(length):
            total = (total ^ np.uint64(load_u8(address + i))) * _STEP
    total = (total ^ (total >> np.uint64(32))) * _STEP
    return max(np.int64(total >> np.uint64(33)), np.int64(1))


@always_inline
def after_hash(image, change, state):
    """The hash to keep of a row that becomes an after-image; NO_HASH where nobody asks, or an image is not whole."""
    if state.witness == 0 or not is_whole(image, state):
        return np.int64(NO_HASH)
    lengths = witness_at(state.witness).image_lengths
    return image_hash(image, np.int64(load_i32(lengths + 4 * change)))


@inline
def testify(held_hash, pointer, change, state):
    """Compare the before-image of a change with the row that it found, whose pointer is not changed yet."""
    witness = witness_at(state.witness)
    before = load_i64(witness.before_images + 8 * change)
    layout = before >> IMAGE_ID_SHIFT
    if load_u8(witness.comparable + layout) == 0:
        return
    if held_hash != NO_HASH and is_image(pointer) and is_whole(before, state):
        if image_hash(before, np.int64(load_i32(witness.before_lengths + 4 * change))) == held_hash:
            witness.agreed += 1
            return
    disputed = disputed_at(witness.disputed, witness.n_disputed)
    disputed.change = change
    disputed.held = held_pointer(pointer, state)
    witness.n_disputed += 1


@inline
def is_image(pointer):
    """Whether a row's pointer leads to an image in the log."""
    layout = pointer >> IMAGE_ID_SHIFT
    return layout > 0 and layout <= MAX_IMAGE_ID
