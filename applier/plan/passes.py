"""Divides an archive that is larger than a pass: each pass is a replay whose base is the result of the previous pass.

A pass bounds the memory of one plan and the disk space of a shuffle. It ends with a file if that fills at least
half of its room, since a pass that continues within a remote file fetches all of it again; else within
a file, at the last event group that fits.
"""

from __future__ import annotations

from collections.abc import Sequence

from applier.binlog.archive.archive import ArchiveFile

LogPosition = tuple[str, int]
"""A binlog's base name and an offset in it."""


def end_of_pass(files: Sequence[ArchiveFile], start: int | None, stop: LogPosition | None,
                n_bytes: int) -> LogPosition | None:
    """Where a pass over about `n_bytes` ends, at most: it begins at `start` in the first of the files, and what it
    leaves continues to `stop`, or to their end. None if it leaves nothing."""
    left, begin = n_bytes, start or 0
    for number, file in enumerate(files):
        last = stop[1] if stop is not None and stop[0] == file.name else None
        end = _least(file.about_bytes, last)
        if end - begin > left:
            if number and left <= n_bytes // 2:
                return files[number - 1].name, files[number - 1].log_bytes
            end = _least(file.log_bytes, last)
            if end - begin > left:
                return file.name, begin + left
        left, begin = left - max(0, end - begin), 0
    return None


def _least(size: int, last: int | None) -> int:
    return size if last is None else min(size, last)


def bytes_left(files: Sequence[ArchiveFile], start: int | None) -> int:
    """How much of the files there is from `start` in the first of them on; of packed ones about."""
    return max(0, sum(file.about_bytes for file in files) - (start or 0))
