"""Which files of two versions of a table have to be read: those that are the same have the same rows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from applier.snapshot import location
from applier.snapshot.digest import can_check
from applier.snapshot.file_entries import FileEntry

Files = Sequence[FileEntry]


@dataclass(frozen=True)
class Range:
    """Files of both sides whose keys lie in one range, in ascending order; no other file has keys in it."""

    sides: tuple[tuple[FileEntry, ...], tuple[FileEntry, ...]]


def different(uris: tuple[str, str], sides: tuple[Files, Files]) -> tuple[list[FileEntry], list[FileEntry]]:
    """The files of the two sides that have rows, without those that both have: by their digests, or, where an older
    program wrote none, as links to one file."""
    named = [[(_identity(uri, file), file) for file in files if file.rows]
             for uri, files in zip(uris, sides, strict=True)]
    both = Counter(name for name, _ in named[0]) & Counter(name for name, _ in named[1])
    left: list[list[FileEntry]] = []
    for side in named:
        pairs, kept = both.copy(), []
        for name, file in side:
            if pairs[name] > 0:
                pairs[name] -= 1
            else:
                kept.append(file)
        left.append(kept)
    return left[0], left[1]


def ranges(sides: tuple[Files, Files]) -> list[Range]:
    """The files in ranges of keys that do not overlap, ascending; as many as there are."""
    found: list[tuple[list[FileEntry], list[FileEntry]]] = []
    high: Any = None
    placed = [(number, file) for number, files in enumerate(sides) for file in files]
    for side, file in sorted(placed, key=lambda one: _low(one[1])):
        if high is None or _low(file) > high:
            found.append(([], []))
        found[-1][side].append(file)
        high = file.max_key if high is None else max(high, file.max_key)
    return [Range((tuple(before), tuple(after))) for before, after in found]


def _low(file: FileEntry) -> Any:
    return file.min_key


def _identity(uri: str, file: FileEntry) -> object:
    """A value that files have in common only if their rows are the same: their bytes are, or, where changes are merged
    with them, the version of one lake that has changed them last."""
    if file.changed is not None:
        return uri, file.path, file.changed
    if can_check(file.digest):
        return file.digest, file.bytes, file.rows, file.min_key, file.max_key
    filesystem, root = location.resolve(uri)
    path = f"{root}/{file.path}"
    if location.is_local(filesystem):
        try:
            found = os.stat(path)
        except OSError:
            return uri, path  # whoever reads it says what is wrong
        return found.st_dev, found.st_ino
    return filesystem.type_name, path
