"""Records that the rewriting kernels share with Python, and their statuses."""

from enum import IntEnum

import numpy as np

from keysearch.records import struct

COLUMN, _, column_at = struct("column of images", **dict.fromkeys((
    "width", "prefix", "key", "before", "after", "json"), np.int64))
"""A column's values in images: the bytes of a value, or of the length before it. Whether it is of the key that
before-images are to have; whether images before and after are to have it although they need not; its number among the
JSON columns, -1 for others."""

TABLE, _, table_at = struct("table of images", **dict.fromkeys((
    "wanted", "n_columns", "columns", "n_json", "fills", "n_fills", "next_fill", "fill_turn", "goes", "database",
    "database_length"), np.int64))
"""One for each distinct table map: whether its images are written again, its columns (address), how many are JSON. The
missing parts of its images in the file are in `n_fills` records at `fills`; `next_fill` is the next one in the event of
the `fill_turn`. `goes`: a filter drops it; `database` is the address of its database's new name (0: it keeps its
name)."""

FILL, _, fill_at = struct("what images lack", **dict.fromkeys(("position", "row", "at", "length"), np.int64))
"""The missing parts of the images of a row change: the offset of its event in the file (of a compressed event, of the
one that it is in), the row in the event; the address of it and its length. It is three bitmaps of columns and two
images:

    which columns the first image has, which the second one, and which an after-image has as the row before (of columns
    that have diffs, the second image may have the documents that these make)
    an image with columns of the row before, and one with columns of the row after
"""

SOURCES, sources_at, _ = struct("where values are", **dict.fromkeys((
    "n", "n_columns", "columns", "layouts", "kinds", "where", "lengths", "same", "values", "out", "room", "used",
    "fills"), np.int64))
"""The locations of the values that are missing in images of `n` changes. Addresses: of the columns (COLUMN), of the
bitmaps of layouts; of arrays by image (before, after), change and column: the kind of source (uint8), and where it is,
an image pointer, or the address of the value as an image has it, with its length below (-1: NULL); of an array by
change and column, whether the row after has what the row before has; memory for values; memory for the result, and of
its records (FILL)."""
ABSENT, IN_IMAGE, IN_MEMORY = range(3)
"""Kinds of sources."""

PAIR, _, pair_at = struct("documents of a row", **dict.fromkeys((
    "row", "column", "old", "old_length", "new", "new_length", "diffs", "diffs_length"), np.int64))
"""A document that a row changes: the row's number in its event, the column's; the addresses of the values before and
after in the log, and their lengths; and the same of the diffs that replace the latter (0: none)."""

OUT, _, out_at = struct("event put out", **dict.fromkeys((
    "address", "start", "length", "source", "unit", "form", "rows", "moves", "begins",
    "type", "removed"), np.int64))
"""An event to be written: where its bytes are, without checksum (`address`; `start` is an offset in the memory of the
walk); how many bytes the archive had for it; a number shared by events that are compressed together (0: none), and in
which form; of a rows event that is compressed by itself, how many bytes come before its rows; whether its header says
where it ends; whether it begins a group, or is in none; how many bytes of the archive after it, in its group, are
dropped."""
PLAIN, PAYLOAD, MARIADB = range(3)
"""Forms: plain, in a TRANSACTION_PAYLOAD, or as MariaDB's compressed rows event."""

STATE, state_at, _ = struct("rewriting", **dict.fromkeys((
    "base", "position", "end", "file_end", "header_bytes", "checksum_bytes", "compresses", "is_mariadb", "is_decrypted",
    "tables", "ids", "ids_mask", "out", "used", "room", "events", "n_events", "most_events", "part_bytes",
    "content", "contents_left", "inner", "within", "kept_used", "kept_events", "changed", "unit",
    "group", "group_events", "has_gtid", "values", "bitmaps", "event", "event_end", "completes", "turn",
    "makes_diffs", "pairs_of", "pairs", "n_pairs", "n_rows",
    "options_bytes", "table", "wanted_bytes",
    "filters", "ranges", "n_ranges", "answers", "empty", "empty_begin", "empty_bytes",
    "group_open", "group_first", "group_used", "group_has_gtid", "group_named", "group_ended", "group_prepares",
    "emptied_prepares", "group_kept", "group_dropped", "group_removed",
    "statement_open", "statement_first", "statement_used", "statement_rows", "last_rows",
    "n_emptied", "n_dropped"), np.int64))
"""Of the file: its address, where the walk is and stops, where the file's events end, bytes of headers and checksums,
whose it is, whether it was encrypted. Addresses of the tables' records and of the table of their ids. The memory for
events: its address, what is used of it and how much there is; the same of their records; how much makes a part. Of a
compressed event that is open: the next of what was inflated (`content`), how much is left, the event in it, whether one
has begun (`within`), what was used before it, whether something in it has changed. `unit` is the last number of a unit.
`group` says how far the open group is one that a server compresses (group_kernel), `group_events` which record comes
after its GTID event, `has_gtid` whether it has one with a length. `values` and `bitmaps` are memory for one row and one
event. `event` (up to `event_end` without a checksum) and `table` are where it stopped. `completes`: what images get
that they lack (FULL_IMAGES, WHOLE_DOCUMENTS); `turn` counts the events of the file, each time that one is begun.
`makes_diffs`: whether documents that updates change are to become diffs; `pairs_of` is the event whose pairs of
documents are at `pairs`, with their diffs, where diffs are less; `n_rows` is how many rows it has, `options_bytes` how
much these take besides.

With `filters`, tables and statements may go: the `n_ranges` pairs of offsets at `ranges` are of groups that go as a
whole; `answers` is the table of ANSWERS records; `empty` is the address of the bodies of BEGIN (`empty_begin` bytes)
and COMMIT, `empty_bytes` in all, that an emptied group gets. Of the open group: its first record and the memory used
before it, whether that is a GTID event that stays, whether it begins with a GTID event, whether its last event was
put out (if it does not), where its XA_PREPARE is (0: it has none; `emptied_prepares`: that of the group that was
emptied last), how many events of content it keeps, whether some were dropped, and their bytes. Of the open statement,
from its first table map or what is before it: the same, how many rows events it keeps, and where the last one is.
`n_emptied` groups have lost all content, and `n_dropped` rows events are gone."""

ANSWER, _, answer_at = struct("answer about a statement", **dict.fromkeys((
    "key", "key_length", "action", "value", "value_length", "once"), np.int64))
"""The decision about a QUERY with this body, without its first bytes (statements.THREAD_BYTES): an Action, and the body
that replaces it (0: none). `once`: the answer is valid for one event."""
ANSWERS, LONG_STATEMENT = 4096, 1024
"""Records of a table by hash; all longer statements share the first."""

FULL_IMAGES, WHOLE_DOCUMENTS = 1, 2

MOST_VALUES = 4096
VALUE_BYTES = 8 * MOST_VALUES
"""Of an array with a number for each column of a row. An image's values take two of them (image_kernel.find_values)."""
IMAGES_AT_A_TIME = 3
"""The number of images for whose values a kernel needs memory."""
BITMAP_BYTES = 512


class Status(IntEnum):
    """The reason why the kernel stopped: DONE, the room or data that it needs, or, below 0, the error in the event."""

    DONE = 0
    PART = 1
    """There is enough to be written."""
    NO_ROOM = 2
    NEW_TABLE_MAP = 3
    NEED_CONTENTS = 4
    NEED_DIFFS = 5
    NEED_ANSWER = 6
    """About a statement."""
    EMPTIED_XA = 7
    """The group before the walk's position has prepared nothing."""
    BAD_LENGTH = -1
    UNKNOWN_TABLE = -2
    BAD_ROWS = -3
    BAD_CHECKSUM = -4
