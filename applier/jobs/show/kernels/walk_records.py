"""Typed records that the kernels that walk, select and print events share, and their statuses."""

from enum import IntEnum

import numpy as np

from applier.binlog.events.compression.compressed_kernel import FOUND
from keysearch.records import offset, struct


class Status(IntEnum):
    """The reason why a kernel stopped: DONE, the room or data that it needs, or an error. All are below 0, so that
    kernels can return one instead of an address."""

    DONE = 0
    FULL = -1
    """There is no more room for text, or for ranges."""
    NEED_TIME = -2
    """A second has no texts yet: `detail` is the second, `wanted_bytes` the number of its record."""
    NEW_TABLE = -3
    """A table map is new: `detail` is the address of its body, `wanted_bytes` the length."""
    NEED_DETAILS = -4
    """Python prints this event."""
    NEED_DOCUMENT = -5
    """The buffer for a JSON document is too small."""
    NEED_CONTENTS = -6
    """The next contents must be inflated."""
    NO_EVENT = -7
    NEED_SETTINGS = -8
    """A statement's context is not the last one's."""
    NEED_DIFF = -9
    """A JSON diff has no text yet."""
    NEED_NOTE = -10
    """The event's rows are not shown."""
    BAD_VALUE = -11
    BAD_ROWS = -12
    UNKNOWN_TABLE = -13
    NEED_VERDICT = -14
    """Python decides the role of the event."""
    NEED_STATEMENT = -15
    """A statement's context has no JSON yet: `wanted_bytes` is the number of its record."""
    FULL_LATER = -16
    """There is no more room for text that waits for the end of its statement."""
    STATEMENT_ENDS = -17
    """A statement ends, and Python has text that waited for it."""
    ROWS_IN_NEVER = -18
    """An event can be printed in base64 only, which is not wanted."""


AT_EVENT, AT_PAYLOAD_END = 1, 2
"""Where a walk is that has not stopped: at an event in a range, or at the end of a payload."""

SPAN, _, span_at = struct("span", start=np.int64, length=np.int64)
"""Address and length of a text."""

RANGE, range_view, _ = struct("range", start=np.int64, end=np.int64)
"""Events from one position to before another. A position here is an event's offset in the file, and its number in its
payload (from 1), else 0."""
RANGE_BYTES = RANGE.itemsize
INNER_BITS = 26
"""Bits of the number in a payload. A payload has fewer events: it has 1 GB at most."""


def range_of(start: int, end: int) -> np.ndarray:
    """Return the events between two positions, as RANGE[1]."""
    return np.array([(start << INNER_BITS, end << INNER_BITS)], RANGE)


STATE, state_at, _ = struct(
    "state",
    **dict.fromkeys((
        # the event that the walk is at; the row in it (offset; 0 before its first); where the next text goes, where
        # its room ends, and where the text of the event's header line begins and ends; what the kernel asks for; the
        # table and the column that it is at
        "position", "row_at", "out", "out_end", "header_start", "header_end", "detail", "wanted_bytes", "table",
        "column",
        # of the file: its bytes, those of headers and checksums; addresses of the fixed texts, the names of types and
        # the times
        "file_bytes", "header_bytes", "checksum_bytes", "texts", "names", "times",
        # of JSON lines: the address of the records of what statements ran in
        "statements",
        # of tables: address of their records; of their ids, and a mask for these
        "tables", "ids", "ids_mask",
        # the thread of the statement that was printed last; whether Python has made the texts for another context
        "thread", "has_settings",
        # of the form: whether it is JSON lines, whether the text is that of MySQL's program; of text: whether headers
        # are left out, and whether rows, the types of values, the statements behind rows, BINLOG statements, and GTIDs
        # are shown; whether only base64 could show rows, and is not wanted; whether the files of LOAD DATA are written,
        # and whether the statement is shown otherwise
        "is_json", "as_mysql", "is_short", "shows_rows", "shows_types", "shows_statements", "shows_binlog",
        "shows_gtids", "is_never", "extracts", "has_instead",
        # of a statement: what waits for its end, which are rows behind the headers of all of its events, and the events
        # in base64, and of MariaDB header lines: where each text begins, where its next part goes, and where its room
        # ends; whether Python has earlier parts of them; how far the rows event is (1: what waited is printed, 2: so is
        # what its rows begin with); its rows
        "rows_start", "rows_out", "rows_end", "code_start", "code_out", "code_end", "heads_start", "heads_out",
        "heads_end", "has_parts", "stage", "n_rows",
        # of MariaDB: the domain, the server and whether replicas may not apply in parallel, as printed last (-1:
        # never); of MySQL: whether GTID_NEXT is set; of both whether a transaction is open
        "domain", "server", "is_serial", "has_gtid", "is_open",
        # of JSON documents: a buffer for a text, its bytes, a stack; of diffs: the texts of the row's (spans), how
        # many there are, and how many the row has had
        "document", "document_bytes", "stack", "diffs", "n_diffs", "diff",
        # what is walked: the address of the range that the event is in, or of the next one, and after the last one
        "range", "ranges_end",
        # of compressed events: whether those are inflated that are not payloads; the record of what is inflated of
        # the next one, how many such records there are; in a payload, the address of the event in it (0: in none),
        # how many came before that and how many of these were printed
        "inflates_all", "content", "contents_left", "inner", "inner_number", "n_inner_printed",
        # of the event: where it begins and ends (addresses), and the bytes that it takes in the file
        "start", "stop", "size",
        # of the choice: the event's role if Python has said it, where the next range goes, where those end that are
        # chosen (the others wait for an event that is), where the first one is, and where their room ends; a
        # statement's text that waits for its table maps (-1: none); whether the transaction has had an event that is
        # chosen; from which position on to choose
        "verdict", "ranges_out", "chosen_end", "room", "room_end", "text_start", "text_end", "is_chosen",
        "choose_from"), np.int64),
    **dict.fromkeys(("context", "database", "title_more", "use", "micros", "settings", "instead"), SPAN),
    described=FOUND)
"""A walk. `context` is a QUERY's status variables and `database` its database, as printed last; `title_more` to
`instead` are the texts that Python has made for another context; `described` is the payload that is being printed."""

TABLE, _, table_at = struct(
    "table", is_unsure=np.int64, n_columns=np.int64, columns=np.int64, n_json_columns=np.int64,
    inserts=SPAN, updates=SPAN, deletes=SPAN, title=SPAN, end=SPAN)
"""`is_unsure`: its rows are guessed at (they are printed if all of an event's can be read). `columns` is the address of
their records; `inserts` to `deletes` are the texts before a row's first image, and `title` and `end` the texts before
and behind the id of the table's map."""

COLUMN, _, column_at = struct("column", kind=np.int64, metadata=np.int64, width=np.int64, prefix=SPAN, type=SPAN)
"""The kind of a column's values (value_kernel), the bytes of one (of a string, of its length), the text before one, and
the type behind one, up to whether it is NULL."""

STATEMENT, _, statement_at = struct("statement", context=SPAN, before=SPAN, after=SPAN)
"""The context of a statement, as bytes of its event, and as JSON before and after the SQL. A record is found by a
hash."""
N_STATEMENTS = 64

TIME, time_view, _ = struct("time", second=np.int64, short=(np.uint8, (24,)), long=(np.uint8, (24,)),
                                zone_length=np.int64, zone=(np.uint8, (64,)))
"""A second (-1: none) as text: its short form, its long one, and its time zone."""
TIME_BYTES = TIME.itemsize
SHORT_AT, LONG_AT, ZONE_AT = (offset(TIME, field) for field in ("short", "long", "zone"))
SHORT_LENGTH, LONG_LENGTH = 15, 19
N_TIMES = 256
HEADERS, ORIGINALS, IMMEDIATES = range(3)
"""Times of one event that are looked up by themselves."""
