"""Compresses events as the servers do: transactions of MySQL, rows events of MariaDB.

This is Python code once per compressed event, like decompression: compression libraries cannot be used in kernels.
"""

from __future__ import annotations

import numpy as np

from applier.binlog.events.format import HEADER_LENGTH, EventType
from applier.jobs.rewrite.kernels.records import PAYLOAD, PLAIN
from applier.writer import compressed
from keysearch.addresses import address_of

MOST_PAYLOAD_BYTES = 256 << 20
"""A transaction with more bytes is not compressed: a replica takes it whole, and has a limit (max_allowed_packet)."""
_FLAGS_AT = 17


class Packed:
    """The events of a part of a file, those of units compressed where that is less: `events` (OUT[n]) have the
    addresses of their bytes, which are valid as long as this object is."""

    def __init__(self, events: np.ndarray, memory: np.ndarray, header_length: int) -> None:
        self._memory, self.events = [memory], events
        events["address"] = address_of(memory) + events["start"]
        numbers = events["unit"]
        [units] = np.nonzero(numbers)
        if len(units):
            [firsts] = np.nonzero(np.diff(numbers[units], prepend=0))
            lasts = np.append(firsts[1:], len(units)) - 1
            self._pack(units[firsts], units[lasts], np.add.reduceat(events["source"][units], firsts), header_length)

    def _pack(self, firsts: np.ndarray, lasts: np.ndarray, sources: np.ndarray, header_length: int) -> None:
        """Compress units, from their first events to their last ones."""
        events, [memory] = self.events, self._memory
        starts, ends = events["start"][firsts], (events["start"] + events["length"])[lasts]
        forms, rows = events["form"][firsts], events["rows"][firsts]
        parts, chosen = list[bytes](), list[int]()
        view = memory.data
        for number, (start, end, form, at) in enumerate(zip(starts.tolist(), ends.tolist(), forms.tolist(),
                                                            rows.tolist(), strict=True)):
            event = view[start:end]
            made = _payload(event, header_length) if form == PAYLOAD else _rows(event, header_length, at)
            if made is not None:
                parts.append(made)
                chosen.append(number)
        if not parts:
            return
        joined, lengths = np.frombuffer(b"".join(parts), np.uint8), np.array([len(part) for part in parts])
        self._memory.append(joined)
        where = firsts[chosen]
        events["address"][where] = address_of(joined) + np.cumsum(lengths) - lengths
        events["length"][where], events["source"][where] = lengths, sources[chosen]
        events["type"][where], events["form"][where] = [part[4] for part in parts], PLAIN
        ends_within = np.zeros(len(events) + 1, np.int64)
        ends_within[where + 1] += 1
        ends_within[lasts[chosen] + 1] -= 1
        self.events = np.ascontiguousarray(events[np.cumsum(ends_within)[:-1] == 0])


def _payload(events: memoryview, header_length: int) -> bytes | None:
    """MySQL's event for the events of a transaction, without a checksum; None if it is no shorter than they are."""
    if len(events) > MOST_PAYLOAD_BYTES:
        return None
    made = _event(EventType.TRANSACTION_PAYLOAD, events[:header_length], compressed.payload(events), flags=0)
    return made if len(made) < len(events) else None


def _rows(event: memoryview, header_length: int, rows_at: int) -> bytes | None:
    """MariaDB's event for a rows event, without a checksum; None if it is no shorter."""
    kind, body = compressed.rows_event(event[4], bytes(event[header_length:rows_at]), event[rows_at:])
    return _event(kind, event[:header_length], body) if len(body) + header_length < len(event) else None


def _event(kind: int, header: memoryview, body: bytes, flags: int | None = None) -> bytes:
    """Return an event with the time and the server of another one."""
    made = bytearray(header)
    made[4] = kind
    if flags is not None:
        made[_FLAGS_AT:HEADER_LENGTH] = flags.to_bytes(2, "little")
    return bytes(made) + body
