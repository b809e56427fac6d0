# mypy: allow-untyped-defs, no-check-untyped-defs
"""Compares the before-images of a batch with the rows that they find: the kernels of the witness.

A row that is a whole image of the log has the hash of that image beside its pointer. A whole before-image with the same
hash agrees with it. All other before-images are *disputed*: their values are compared later, in bulk. The previous
version of a disputed row must outlive the change, so its column pointers are copied.
"""

import numpy as np

from applier.apply.index.pointer_kernel import held_pointer, is_whole
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT, MAX_IMAGE_ID
from keysearch.memory import always_inline, inline, load_i64, load_u8, load_u32
from keysearch.records import struct

WITNESS, witness_at, _ = struct("witness", **dict.fromkeys((
    "before_images", "before_hashes", "after_hashes", "comparable", "agreed", "disputed", "n_disputed"), np.int64))
"""The addresses of the batch's arrays (change_records.BATCH) and of `comparable` (uint8[layout]): whether before-images
of a layout have a column by which their row was not found. `agreed` counts before-images; `disputed` has room for a
batch."""
DISPUTED, _, disputed_at = struct("disputed image", change=np.int64, held=np.int64)
"""The number of a change in its batch, and a pointer to the row before the change."""
NO_HASH = 0
"""The hash of a row whose pointer does not lead to a whole image, or that is older than the witness."""

@always_inline
def after_hash(image, change, state):
    """Return the hash to keep for a row that becomes an after-image; NO_HASH if no hash is needed, or the image is not
    whole."""
    if state.witness == 0 or not is_whole(image, state):
        return np.int64(NO_HASH)
    return np.int64(load_u32(witness_at(state.witness).after_hashes + 4 * change))


@inline
def testify(held_hash, pointer, change, state):
    """Compare the before-image of a change with the row that it found; the row's pointer is not changed yet."""
    if is_disputed(held_hash, pointer, change, state):
        dispute(change, held_pointer(pointer, state), state)


@inline
def is_disputed(held_hash, pointer, change, state):
    """Return True if the values of a before-image must be compared with the row that it found. Otherwise it agrees, or
    has nothing to compare."""
    witness = witness_at(state.witness)
    before = load_i64(witness.before_images + 8 * change)
    layout = before >> IMAGE_ID_SHIFT
    if load_u8(witness.comparable + layout) == 0:
        return False
    is_same = np.int64(load_u32(witness.before_hashes + 4 * change)) == held_hash
    if is_same and held_hash != NO_HASH and is_image(pointer) and is_whole(before, state):
        witness.agreed += 1
        return False
    return True


@inline
def dispute(change, held, state):
    """Record a change whose before-image is disputed, and a pointer to the row before the change."""
    witness = witness_at(state.witness)
    disputed = disputed_at(witness.disputed, witness.n_disputed)
    disputed.change = change
    disputed.held = held
    witness.n_disputed += 1


@inline
def is_image(pointer):
    """Return whether a row's pointer leads to an image in the log."""
    layout = pointer >> IMAGE_ID_SHIFT
    return layout > 0 and layout <= MAX_IMAGE_ID
