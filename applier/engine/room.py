"""How much log a replay takes at a time, by the memory and the disk of the machine that plans it."""

import os
import shutil
import tempfile

from applier.io.temporary import spill_directory

LEAST_BYTES = 1 << 30
LOG_BYTES_A_BYTE = 256
"""Of log, for each byte of memory here: outlines and plans take a thousandth of the log, and get a quarter of it."""


def room_for_pass(on_one_disk: bool) -> int:
    """The bytes of log whose outlines and plans fit in memory, and, where all tasks leave them `on_one_disk`, whose
    changes fit in half of what is free there."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * LOG_BYTES_A_BYTE
    if not on_one_disk:
        return max(LEAST_BYTES, memory)
    directory = spill_directory()
    free = shutil.disk_usage(directory if directory and os.path.isdir(directory) else tempfile.gettempdir()).free
    return max(LEAST_BYTES, min(memory, free // 2))
