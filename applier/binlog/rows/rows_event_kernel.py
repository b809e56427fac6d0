# mypy: allow-untyped-defs, no-check-untyped-defs
"""Decodes one rows event of a selected table into the table's batch.

A rows event: header (19 bytes), table id (6), flags (2), in version 2 the length of extra data (2, itself included) and
that data, the number of columns (packed), a bitmap of present columns for each image, then the images.

Between the two images of a row, PARTIAL_UPDATE_ROWS (JD-TYPE) has value options and, if these say so, a bitmap with one
bit for each JSON column of the table, whether or not it is in the image: the columns whose value in the after-image is
a diff. Rows of one event may have different bitmaps, so a row's layout is a *variant* of the event's.

An image's bytes are hashed while they are in the cache of the walk: sixteen bytes make a product of 128 bits, whose
halves are folded; the products do not depend on each other."""

from __future__ import annotations

import numpy as np

from applier.binlog.events.compression.inflated import INFLATED_BYTES, inflated_at
from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import NO_HEADER, read_bitmaps, table_id_at
from applier.binlog.rows.change_records import (
    BATCH,
    DEFLATED_SEQ_BITS,
    DELETE,
    EVENT_FLAG_BITS,
    IMAGE_ID_SHIFT,
    INSERT,
    LAYOUT_BYTES,
    NO_OPTIONS,
    SEQ_BITS,
    UPDATE,
    WITH_BEFORE_IMAGES,
    Status,
    batch_at,
    images_at,
    layout_at,
    table_at,
)
from applier.binlog.rows.image_kernel import CORRUPT, FULL, program_view, read_image
from applier.binlog.rows.table_ids_kernel import id_entry
from applier.kernels.byte_strings import same_bytes
from keysearch.memory import (
    always_inline,
    copy_bytes,
    high_product,
    inline,
    load_i32,
    load_i64,
    load_u8,
    load_u16,
    load_u64,
    store_i32,
    store_i64,
    store_u8,
    store_u32,
)
from keysearch.records import offset

_FIRST, _SECOND, _STEP = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xD6E8FEB86659FD93)


@always_inline
def _folded(first, second, key):
    """Return both halves, folded, of a product of two words; `key` makes it depend on where the words are."""
    first, second = first ^ key, second ^ _SECOND
    return first * second ^ high_product(first, second)


@inline
def image_hash(at, length):
    """Return a hash of 31 bits of `length` bytes at an address; never 0."""
    total, key = np.uint64(length) * _STEP, _FIRST
    for i in range(length >> 4):
        total += _folded(load_u64(at + 16 * i), load_u64(at + 16 * i + 8), key)
        key += _STEP
    if length >= 16:
        total += _folded(load_u64(at + length - 16), load_u64(at + length - 8), key)  # overlaps the last pair
    elif length >= 8:
        total += _folded(load_u64(at), load_u64(at + length - 8), key)
    else:
        for i in range(length):
            total = (total ^ np.uint64(load_u8(at + i))) * _STEP
    total = (total ^ (total >> np.uint64(32))) * _STEP
    return max(np.int64(total >> np.uint64(33)), np.int64(1))


_PARTIAL_UPDATE, _PAYLOAD = 39, 40
_ZERO_DATES = offset(BATCH, "zero_dates")
_PLAIN, _PARTIAL_JSON = 0, 1
"""Value options."""
_ADDRESS = (np.int64(1) << IMAGE_ID_SHIFT) - 1
DUMMY_TABLE_ID, ALL_ONES = 0xFFFFFF, 0xFFFFFFFFFFFF
"""The table ids of rows events without rows, which only end a statement."""


@inline
def find_layout(last, layouts, n, bitmap, bitmap_bytes):
    """Return the address of the layout with this bitmap (0: none) among the `n` at `layouts`; `last`, the last one used
    (0: none), is tried first."""
    if last and same_bytes(layout_at(last).bitmap, bitmap, bitmap_bytes):
        return last
    layout = layouts
    for _ in range(n):
        if same_bytes(layout_at(layout).bitmap, bitmap, bitmap_bytes):
            return layout
        layout += LAYOUT_BYTES
    return np.int64(0)


@inline
def rows_kind(event_type):
    """Return INSERT, UPDATE or DELETE for the rows events of versions 1 and 2, -1 for other types."""
    if event_type >= 30 and event_type <= 32:
        return event_type - 30
    if event_type >= 23 and event_type <= 25:
        return event_type - 23
    if event_type == _PARTIAL_UPDATE:
        return UPDATE
    return -1


@inline
def to_buffer(start, length, state):
    """Copy a rows event to the buffer. Returns its address there; 0 if the buffer is full."""
    free = state.buffer
    if state.buffer_end - free < length + INFLATED_BYTES:
        state.wanted_bytes = length
        return np.int64(0)
    inflated = inflated_at(free)
    inflated.file_event = state.file_event
    inflated.length = length
    copy_bytes(free + INFLATED_BYTES, start, length)
    state.copy = free + INFLATED_BYTES
    state.buffer = free + INFLATED_BYTES + length
    return free + INFLATED_BYTES


@inline
def rows_event(start, stop, safe_end, kind, event_type, state):
    """Decode one rows event, whose header ends at `start`; from the row at `row_at` on if that is not 0."""
    if stop - start < 8:
        return Status.BAD_LENGTH
    table_id = table_id_at(start)
    entry = id_entry(state.ids, state.ids_mask, table_id)
    if entry.id == -1:
        return Status.DONE if table_id == DUMMY_TABLE_ID or table_id == ALL_ONES else Status.UNKNOWN_TABLE
    state.table = entry.table
    table = table_at(state.tables, entry.table)
    if table.wanted == 0:
        return Status.DONE
    columns, at = read_bitmaps(start, stop, event_type)
    if at == 0 or columns != table.n_columns:
        state.detail = 0  # from the first row on
        return Status.BAD_LENGTH if columns == NO_HEADER else Status.BAD_ROWS
    bitmap_bytes = (columns + 7) >> 3
    before, after = np.int64(0), np.int64(0)
    if kind != INSERT:
        before = find_layout(table.last_before, table.layouts, table.n_layouts, at, bitmap_bytes)
        if before == 0:
            state.detail = at
            return Status.NEW_LAYOUT
        table.last_before = before
        at += bitmap_bytes
    if kind != DELETE:
        after = find_layout(table.last_after, table.layouts, table.n_layouts, at, bitmap_bytes)
        if after == 0:
            state.detail = at
            return Status.NEW_LAYOUT
        table.last_after = after
        at += bitmap_bytes
    if state.row_at == 0:
        state.n_events += 1
        flags = np.int64(load_u16(start + 6))
        state.rows_event = state.n_events << EVENT_FLAG_BITS | flags
        _number_rows(state)
    images = images_at(state.images)
    images.kind, images.before, images.after = kind, before, after
    images.json_columns = table.n_json_columns if event_type == _PARTIAL_UPDATE else np.int64(NO_OPTIONS)
    if state.within != 0 and (kind != DELETE or table.wanted == WITH_BEFORE_IMAGES):
        copy = state.copy if state.row_at else to_buffer(start, stop - start, state)
        if copy == 0:
            return Status.BUFFER_FULL
        start, at, stop, safe_end = copy, at + copy - start, stop + copy - start, state.buffer_end
    images.body, images.first, images.stop, images.safe_end = start, at, stop, safe_end
    return rows_of_event(images, table.batch, state)


@inline
def _number_rows(state):
    """Set the numbering of the rows of the event at `event`."""
    is_deflated = state.within != 0 and event_header(state.file_event).type != _PAYLOAD
    state.seq_shift = DEFLATED_SEQ_BITS if is_deflated else SEQ_BITS
    state.first_seq = (state.position << SEQ_BITS) + (state.inner_offset + state.header_bytes << state.seq_shift)


@inline
def read_options(at, stop, json_columns, layout, state):
    """Read the options between the images of a row of PARTIAL_UPDATE_ROWS. Returns the address after them, CORRUPT if
    they are malformed, and the address of the row's layout (0: a new variant)."""
    if at >= stop or load_u8(at) > _PARTIAL_JSON:
        return np.int64(CORRUPT), layout
    options = load_u8(at)
    at += 1
    if options == _PLAIN:
        return at, layout
    bitmap_bytes = (json_columns + 7) >> 3
    if bitmap_bytes > stop - at:
        return np.int64(CORRUPT), layout
    known = layout_at(layout)
    variant = find_layout(known.last_variant, known.variants, known.n_variants, at, bitmap_bytes)
    if variant == 0:
        state.layout = layout
        state.partial_bits = at
    else:
        known.last_variant = variant
    return at + bitmap_bytes, variant


@inline
def _image_id(layout):
    """Return the upper bits of pointers to a layout's images; 0 without a layout."""
    return layout_at(layout).image_id << IMAGE_ID_SHIFT if layout else np.int64(0)


@inline
def _add_before(batch, pointer, length):
    """Add the before-image of the next change; the pointer is -1 if there is none."""
    store_i32(batch.before_rows + 4 * batch.n, np.int32(batch.n_before if pointer != -1 else -1))
    store_i64(batch.before_images + 8 * batch.n, pointer)
    store_i32(batch.before_lengths + 4 * batch.n, np.int32(length))
    batch.n_before += pointer != -1
    batch.n_after += batch.in_one if pointer != -1 else np.int64(0)


@inline
def _add_after(batch, pointer, length):
    """Add the after-image of the next change; the pointer is -1 if there is none."""
    store_i32(batch.after_rows + 4 * batch.n, np.int32(batch.n_after if pointer != -1 else -1))
    store_i64(batch.images + 8 * batch.n, pointer)
    store_i32(batch.image_lengths + 4 * batch.n, np.int32(length))
    batch.n_after += pointer != -1
    batch.n_before += batch.in_one if pointer != -1 else np.int64(0)


@inline
def _add_hashes(batch, first):
    """Add the hashes of both images of all changes from number `first` on, whose bytes are still in the cache; 0 for no
    image."""
    for change in range(first, batch.n):
        before, after = load_i64(batch.before_images + 8 * change), load_i64(batch.images + 8 * change)
        for image, lengths, hashes in ((before, batch.before_lengths, batch.before_hashes),
                                       (after, batch.image_lengths, batch.after_hashes)):
            word = np.int64(0)
            if image != -1:
                word = image_hash(image & _ADDRESS, np.int64(load_i32(lengths + 4 * change)))
            store_u32(hashes + 4 * change, np.uint32(word))


@inline
def _add_change(batch, kind, row, offset, state):
    """Add the next change, whose images have been added: a row of the current event, at this offset in its body."""
    store_u8(batch.kinds + batch.n, np.uint8(kind))
    store_i64(batch.positions + 8 * batch.n, state.file_event)
    store_i32(batch.rows + 4 * batch.n, np.int32(row))
    store_u32(batch.times + 4 * batch.n, event_header(state.event).time)
    store_i64(batch.events + 8 * batch.n, state.rows_event)
    store_i64(batch.seqs + 8 * batch.n, state.first_seq + (offset << state.seq_shift))
    batch.n += 1


@inline
def rows_of_event(images, batch_address, state):
    """Read the images of one rows event into its table's batch. If a row is corrupt, the rows before it are in the
    batch."""
    batch, resume = batch_at(batch_address), state.row_at
    first = batch.n
    at = images.body + resume if resume else images.first
    row = state.detail if resume else np.int64(0)
    kind, before, after, json_columns = images.kind, images.before, images.after, images.json_columns
    stop, safe_end = images.stop, images.safe_end
    zero_dates, no_nulls = batch_address + _ZERO_DATES, state.no_nulls
    before_program = layout_at(before).before if before else np.int64(0)
    after_program = layout_at(after).after if after else np.int64(0)
    before_id, image_id = _image_id(before), _image_id(after)
    # an event without columns has no byte for its rows, and a replica takes it as one row
    is_empty_row = at == stop and row == 0 and not (before and program_view(before_program).n_present) and not (
        after and program_view(after_program).n_present)
    status = Status.DONE
    while at < stop or is_empty_row:
        is_empty_row = False
        if batch.n >= batch.capacity:
            status = Status.BATCH_FULL
            break
        next_at, zero_before = at, batch.zero_dates
        if before:
            next_at = read_image(next_at, stop, safe_end, before_program, batch.n_before, zero_dates, no_nulls)
        before_end = next_at
        if json_columns != NO_OPTIONS and next_at >= 0:
            next_at, variant = read_options(next_at, stop, json_columns, after, state)
            if variant == 0:
                batch.zero_dates = zero_before
                status = Status.NEW_VARIANT
                break
            after_program, image_id = layout_at(variant).after, _image_id(variant)
        image = next_at
        if after and next_at >= 0:
            after_row = batch.n_after + batch.in_one if before else batch.n_after
            next_at = read_image(next_at, stop, safe_end, after_program, after_row, zero_dates, no_nulls)
        if next_at == FULL:
            batch.zero_dates = zero_before
            status = Status.NO_ROOM
            break
        if next_at == CORRUPT or (next_at == at and at < stop):
            status = Status.BAD_ROWS
            break
        _add_before(batch, before_id | at if before else np.int64(-1), before_end - at if before else np.int64(0))
        _add_after(batch, image_id | image if after else np.int64(-1), next_at - image if after else np.int64(0))
        _add_change(batch, kind, row, at - images.body, state)
        row += 1
        at = next_at
    if batch.hashes:
        _add_hashes(batch, first)
    if status != Status.DONE:
        state.row_at = at - images.body
        state.detail = row
    return status
