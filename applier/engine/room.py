"""How much log a replay takes at a time, by the memory and the disk of the machine that plans it."""

import os
import shutil
import tempfile

from applier.engine.spill_buffer import spill_directory

LOG_BYTES_A_BYTE = 64
"""Of log, for each byte of memory here: outlines and tasks take a thousandth of the log or less, and get a quarter."""


def room_for_pass() -> int:
    """The bytes of log whose outlines and tasks fit in memory, and whose changes fit on the disk that a shuffle may
    leave them on."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    directory = spill_directory()
    disk = shutil.disk_usage(directory if directory and os.path.isdir(directory) else tempfile.gettempdir()).free
    return max(1 << 30, min(LOG_BYTES_A_BYTE * memory, disk // 2))
