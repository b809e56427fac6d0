"""The header of an event, for kernels: `event_header(address).size`, and so on.

Source: MySQL internals, "Binary Log Event Header", version 4. The caller has checked that 19 bytes are left.
"""

import numpy as np

from keysearch.records import packed

EVENT_HEADER, event_header = packed(
    "event header", time=np.uint32, type=np.uint8, server_id=np.uint32, size=np.uint32, next_position=np.uint32,
    flags=np.uint16)
