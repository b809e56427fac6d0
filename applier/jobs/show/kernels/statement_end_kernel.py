# mypy: allow-untyped-defs, no-check-untyped-defs
"""Header lines, and the text that waits for the end of a statement: headers, BINLOG statements and rows."""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.packed_kernel import table_id_at
from applier.jobs.show.kernels.base64_kernel import inner_checksum
from applier.jobs.show.kernels.fixed_texts import Text, put_name, put_text
from applier.jobs.show.kernels.gtid_text_kernel import find_time
from applier.jobs.show.kernels.rows_text_kernel import put_rows_title
from applier.jobs.show.kernels.statements_text_kernel import EVENT_ROOM
from applier.jobs.show.kernels.walk_records import HEADERS, SHORT_AT, SHORT_LENGTH, Status
from applier.kernels.put_kernel import put_byte, put_hex
from jsondiff.kernels.numbers import put_unsigned
from keysearch.memory import copy32, copy_bytes, inline, load_u16, load_u32, load_u64

_ROTATE, _FORMAT = 4, 15


@inline
def put_header(out, start, outer, size, state):
    """#261122 19:00:00 server id 7  end_log_pos 197 CRC32 0x0badcafe"""
    header = state.header_bytes
    time = find_time(np.int64(event_header(start).time), HEADERS, state)
    if time == 0:
        return Status.NEED_TIME
    out = put_byte(out, 35)
    copy32(out, time + SHORT_AT)
    out = put_text(out + SHORT_LENGTH, state, Text.SERVER)
    out = put_unsigned(out, np.uint64(event_header(start).server_id))
    out = put_unsigned(put_text(out, state, Text.END), np.uint64(event_header(outer).next_position))
    kind = event_header(outer).type
    if state.inner == 0 and header > 19 and kind != _FORMAT and kind != _ROTATE:
        out = put_unsigned(put_text(out, state, Text.GROUP), load_u64(start + 19))
    if state.checksum_bytes:
        checksum = inner_checksum(state) if state.inner else load_u32(outer + size - 4)
        out = put_hex(put_text(out, state, Text.CRC), np.uint64(checksum), 8)
    return put_text(out, state, Text.TAB)


@inline
def put_own_name(out, base, state):
    """The name of the event's type: in the file, or within a payload."""
    start = state.start if state.inner else base + state.position
    return put_name(out, state, np.int64(event_header(start).type))


@inline
def put_title(out, base, body, state):
    """Write the kind of a rows event, and its table; a note may follow."""
    table_id = table_id_at(body)
    return put_rows_title(put_own_name(out, base, state), state, table_id, np.int64(load_u16(body + 6)))


@inline
def put_heads(out, state):
    """Write the waiting header lines, which end with a table map; they wait until that is printed."""
    heads = state.heads_out - state.heads_start
    if heads + EVENT_ROOM > state.out_end - out:
        return np.int64(Status.FULL)
    return copy_bytes(out, state.heads_start, heads)


@inline
def ask_for_heads(length, state):
    state.wanted_bytes = 2 * length + EVENT_ROOM
    return np.int64(Status.FULL_LATER)


@inline
def end_statement(out, state):
    """Return the end of the text after all text that has waited for the end of a statement; or STATEMENT_ENDS if Python
    prints it."""
    code, rows = state.code_out - state.code_start, state.rows_out - state.rows_start
    heads = state.heads_out - state.heads_start
    if state.has_parts or heads + code + rows + EVENT_ROOM > state.out_end - out:
        state.out = out
        return np.int64(Status.STATEMENT_ENDS)
    out = copy_bytes(out, state.heads_start, heads)
    state.heads_out = state.heads_start
    if code:
        out = copy_bytes(put_text(out, state, Text.BINLOG), state.code_start, code)
        out = put_text(out, state, Text.BINLOG_ENDS)
    out = copy_bytes(out, state.rows_start, rows)
    state.code_out = state.code_start
    state.rows_out = state.rows_start
    return out
