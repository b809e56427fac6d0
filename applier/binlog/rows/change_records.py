"""What the walk of row changes is given and what it answers: records of eight-byte words that Python fills in.

Tables, layouts and batches are such records; the names here are the offsets of their words, in bytes.
"""

from enum import IntEnum

# a table's record (one for each distinct table map); WANTED is WITH_BEFORE_IMAGES where their memory is kept, too
WANTED, N_COLUMNS, BATCH, LAYOUTS, N_LAYOUTS, LAST_BEFORE, LAST_AFTER, N_JSON_COLUMNS = range(0, 64, 8)
TABLE_WORDS = 8
WITH_BEFORE_IMAGES = 2

# a layout's record: the bitmap it stands for, its number in image pointers, and the programs of both images; and its
# variants, which are records of the same form whose bitmap is that of partial JSON columns
BITMAP, IMAGE_ID, BEFORE, AFTER, VARIANTS, N_VARIANTS, LAST_VARIANT = range(0, 56, 8)
LAYOUT_BYTES = 64

# a batch's record: how many changes, before-images and after-images it has, and where its arrays are
(N, N_BEFORE, N_AFTER, CAPACITY, KINDS, PLACES, ROWS, BEFORE_ROWS, AFTER_ROWS, IMAGES, IMAGE_LENGTHS, TIMES,
 EVENTS, BEFORE_IMAGES, BEFORE_LENGTHS, ZERO_DATES) = range(0, 128, 8)
BATCH_WORDS = 16

# the walk's state, in bytes from its start
POSITION, ROW_AT, TABLE, DETAIL, LAYOUT, PARTIAL_BITS, EVENT = range(0, 56, 8)
# for compressed events: the next of what was inflated and how much is left of it, where that memory ends, the event in
# it (0 before the first), whether one has begun; where the rows event was copied to, and what is free of the arena
CONTENT, CONTENTS_LEFT, CONTENTS_END, INNER, WITHIN, COPY, ARENA, ARENA_END, WANTED_BYTES = range(56, 128, 8)
HEADER_BYTES = 128  # of an event: 19, or 27 with a group id
# how many rows events of wanted tables there were; the one whose rows are being read, as EVENTS has it
N_EVENTS, ROWS_EVENT = 136, 144
# whether a digest of the events is taken (digest_kernel), and what it is so far
DIGESTS, DIGEST = 152, 160
STATE_WORDS = 24

EVENT_FLAG_BITS = 16
"""In EVENTS: the flags of the rows event, and above them its number in the walk."""


class Status(IntEnum):
    """Why the kernel stopped: DONE, what it needs, or, below 0, what is wrong with the event."""

    DONE = 0
    BATCH_FULL = 1
    NO_ROOM = 2
    NEW_TABLE_MAP = 3
    NEW_LAYOUT = 4
    NEW_VARIANT = 5
    NEED_CONTENTS = 6
    ARENA_FULL = 7
    BAD_LENGTH = -1
    UNKNOWN_TABLE = -2
    BAD_ROWS = -3
    BAD_CHECKSUM = -4


INSERT, UPDATE, DELETE = 0, 1, 2
IMAGE_ID_SHIFT = 48
"""An image pointer: the number of its layout from this bit on, its address below. User-space addresses have 47 bits on
x86-64, and 48 on ARM."""
MAX_IMAGE_ID = (1 << 15) - 4
"""Numbers of layouts are 1 to this; 0 and the three above it are free for what else a pointer may point to."""
