"""The inputs and outputs of the walk of row changes: records that Python fills in."""

from enum import IntEnum

import numpy as np

from keysearch.records import struct

TABLE, _, table_at = struct("table", **dict.fromkeys((
    "wanted", "n_columns", "batch", "layouts", "n_layouts", "last_before", "last_after", "n_json_columns"), np.int64))
"""A record for each distinct table map. `wanted` is WITH_BEFORE_IMAGES if the memory of before-images is kept, too;
`last_…` are the layouts (addresses; 0: none) of the previous images."""
WITH_BEFORE_IMAGES = 2

LAYOUT, layout_at, _ = struct("layout", **dict.fromkeys((
    "bitmap", "image_id", "before", "after", "variants", "n_variants", "last_variant"), np.int64))
"""The bitmap of a layout, its number in image pointers, and the programs of both images; and its variants: layouts
whose bitmap is that of partial JSON columns."""
LAYOUT_BYTES = LAYOUT.itemsize

BATCH, batch_at, _ = struct("change batch", **dict.fromkeys((
    "n", "n_before", "n_after", "in_one", "capacity", "kinds", "positions", "rows", "before_rows", "after_rows",
    "images", "image_lengths", "times", "events", "before_images", "before_lengths", "seqs", "before_hashes",
    "after_hashes", "hashes", "zero_dates"), np.int64))
"""The numbers of changes, before-images and after-images, and the addresses of the arrays. `in_one` is 1 if both images
go into the same buffers, one after the other; both numbers then count all images. `hashes` is 1 if the hashes of images
are computed."""

IMAGES, images_at, _ = struct("images of an event", **dict.fromkeys((
    "body", "first", "stop", "safe_end", "kind", "before", "after", "json_columns"), np.int64))
"""The rows event that is being read: the addresses of its body, of its first image, of its end, and up to which memory
may be read; INSERT, UPDATE or DELETE; the layouts of its images (addresses; 0: none); the number of JSON columns of the
table, NO_OPTIONS if there are no options between the images of a row."""
NO_OPTIONS = -1

STATE, state_at, _ = struct("state", **dict.fromkeys((
    "base", "end", "file_end", "header_bytes", "checksum_bytes", "tables", "ids", "ids_mask", "no_nulls",
    "position", "file_event", "row_at", "table", "detail", "layout", "partial_bits", "event",
    "content", "contents_left", "contents_end", "inner", "within", "copy", "buffer", "buffer_end", "wanted_bytes",
    "n_events", "rows_event", "inner_offset", "first_seq", "seq_shift", "images", "digests", "digest", "left_out",
    "left_out_end", "out_from", "out_to"), np.int64))
"""The walk's state. For the file: its address (`base`), the offset at which to stop, the address of its end, the bytes
of an event's header (19, or 27 with a group id) and checksum. Addresses of the tables' records, of the table of their
ids (ids_mask + 1 entries, a power of two), and of 512 zero bytes: the NULL bitmap of a row without NULLs. `event` is
the address of the event; `position` is the offset of the event in the file, or of the compressed event that contains
it, and `file_event` is the address of that. For compressed events: the next inflated part (`content`) and the number of
remaining ones, the end of their memory, the event in it (`inner`; 0 before the first), whether one has begun
(`within`); the copy of the rows event, and the free part of the buffer for copies. `n_events` counts rows events of
wanted tables; `rows_event` is the current one, as in `events`, and `images` the address of its IMAGES. `inner_offset`
is the offset of the event in the contents of a compressed event; `first_seq` is the number (SEQ_BITS) of the first byte
of the body of the rows event, and `seq_shift` the shift of later offsets. `digests`: whether a digest of the events is
computed (digest_kernel); `digest`: its value so far. `left_out` to `left_out_end` are the addresses of the excluded
ranges that follow, and `out_from` to `out_to` (offsets) is the current one."""

EVENT_FLAG_BITS = 16
"""The bits of the rows event's flags in a batch's `events`; its number in the walk is above them."""

SEQ_BITS, DEFLATED_SEQ_BITS = 23, 12
"""A change's number in `seqs` is the offset in the file of the first byte of its row, shifted by SEQ_BITS. It depends
only on the log's bytes, it ascends, and it is unique in an event group.

For rows in a compressed event, their offset in its contents is added to the event's own offset. No rows follow a
TRANSACTION_PAYLOAD in its group. Other events may follow one of MariaDB's compressed events, whose contents are at most
1032 times as long as the event (deflate). So offsets in it are shifted by DEFLATED_SEQ_BITS: 1032 << 12 is less than 1
<< 23, and the next event has greater numbers.

Between the numbers of two rows there is room for the changes that foreign keys make after the first one: 1 << SEQ_BITS
for each byte of its row, in MariaDB's compressed events 1 << DEFLATED_SEQ_BITS."""


class Status(IntEnum):
    """Why the kernel stopped: DONE, what it needs, or, below 0, the error in the event."""

    DONE = 0
    BATCH_FULL = 1
    NO_ROOM = 2
    NEW_TABLE_MAP = 3
    NEW_LAYOUT = 4
    NEW_VARIANT = 5
    NEED_CONTENTS = 6
    BUFFER_FULL = 7
    BAD_LENGTH = -1
    UNKNOWN_TABLE = -2
    BAD_ROWS = -3
    BAD_CHECKSUM = -4


INSERT, UPDATE, DELETE = 0, 1, 2
IMAGE_ID_SHIFT = 48
"""The lowest bit of the layout's number in an image pointer, whose lower bits are the address. User-space addresses
have 47 bits on x86-64, and 48 on ARM."""
MAX_IMAGE_ID = (1 << 15) - 4
"""The largest number of a layout; the smallest is 1. The number 0 and the three numbers above this one mark other
pointers."""
