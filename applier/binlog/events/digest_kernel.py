# mypy: allow-untyped-defs, no-check-untyped-defs
"""The digest of whole events. An outline keeps it for each split, and a task verifies it before it applies the split.

It is computed from the CRC32s of events, which an outline reads anyway. It identifies the outlined bytes, and so it
detects what checksums cannot detect: a different valid event, and changes of a log without checksums.
"""

import numpy as np

from applier.binlog.events.event_header_kernel import event_header
from applier.binlog.events.format import EventType
from applier.kernels.crc32 import crc32
from keysearch.memory import inline, kernel, load_u32, store_i64

_MIXER = 0xFF51AFD7ED558CCD


@inline
def with_event(digest, crc):
    """Return the digest (int64) of events, given the digest of all but the last one, and the last one's CRC32."""
    word = (np.uint64(digest) ^ np.uint64(crc)) * np.uint64(_MIXER)
    return np.int64(word ^ (word >> np.uint64(32)))


@kernel
def digest_events(base, start, end, header_bytes, checksum_bytes, digest):
    """Write the digest of the events in [start, end), offsets from address `base`, to the address `digest`. Returns
    where it stopped: `end`, or the first event that extends past it, or has an impossible length or a wrong checksum.
    """
    position, word = start, np.int64(0)
    while position < end:
        event = base + position
        if header_bytes > end - position:
            break
        size = np.int64(event_header(event).size)
        if size < header_bytes + checksum_bytes or size > end - position:
            break
        if event_header(event).type != EventType.FORMAT_DESCRIPTION:  # a flag in it may change
            crc = crc32(event, size - checksum_bytes, np.uint32(0))
            if checksum_bytes and crc != load_u32(event + size - 4):
                break
            word = with_event(word, crc)
        position += size
    store_i64(digest, word)
    return position
