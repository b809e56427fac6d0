"""The amount of log that a replay takes at a time, by the memory and the disk of the machine that plans it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePath

from applier.io.disk.temporary import spill_directory

LEAST_BYTES = 1 << 30
LOG_BYTES_A_BYTE = 256
"""Of log, for each byte of memory here: outlines and plans take a thousandth of the log, and get a quarter of it."""

MEMBERSHIP, GROUPS = "/proc/self/cgroup", Path("/sys/fs/cgroup")


def room_for_pass(on_one_disk: bool) -> int:
    """Return the bytes of log whose outlines and plans fit in memory, and, if all tasks leave them `on_one_disk`, whose
    changes fit in half of the free space there."""
    memory = memory_bytes() * LOG_BYTES_A_BYTE
    if not on_one_disk:
        return max(LEAST_BYTES, memory)
    return max(LEAST_BYTES, min(memory, free_bytes(spilling_directory()) // 2))


def memory_bytes() -> int:
    """The memory of this machine, or of the container or other control group in which this process is."""
    return min([os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_group_limits()])


def _group_limits() -> Iterator[int]:
    """The limits of the process's control groups (of version 1 or 2) and of those that they are in. A container may see
    its own group as the root, whatever its name is outside."""
    try:
        lines = Path(MEMBERSHIP).read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root, file = (GROUPS / "memory", "memory.limit_in_bytes") if controllers else (GROUPS, "memory.max")
        group = PurePath(name.lstrip("/"))
        for folder in (group, *group.parents):
            with suppress(OSError, ValueError):  # not there, or "max"
                yield int((root / folder / file).read_text())


def spilling_directory() -> str:
    """Where tasks leave changes in files: the system's own directory, if the one that is named is not there."""
    directory = spill_directory()
    return directory if directory and os.path.isdir(directory) else tempfile.gettempdir()


def free_bytes(directory: str) -> int:
    """Return the free bytes of the disk of a directory. Errors: OSError."""
    return shutil.disk_usage(directory).free
