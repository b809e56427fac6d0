"""What a manifest says of each file: where it is, how many rows and bytes it has, which keys, and its digest.

A file alone is a FileEntry. What is true of many files together, or has to be looked at for each of a hundred thousand,
is asked of FileColumns: the same fields, a list each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Annotated, Any, Literal

from applier.io.typed_json import Count, Mismatch, between, build
from applier.snapshot import location

KeyKind = Literal["int", "bytes"]
KeyValue = Annotated[int, between(-2**63, 2**63 - 1)] | bytes
FilePath = Annotated[str, lambda path: "" if location.is_plain_inside(path) else f"is a path outside of it: {path!r}"]
_LONGEST_DIGEST = 200
Digest = Annotated[str, lambda digest: "" if _are_digests([digest]) else "is no digest"]


@dataclass(frozen=True)
class FileEntry:
    """One Parquet file: `path` relative to the snapshot with "/", `bytes` its size, keys None where the table has
    none, `digest` of all its bytes, None where an older program wrote it."""

    path: FilePath
    rows: Count
    bytes: Count
    min_key: KeyValue | None = None
    max_key: KeyValue | None = None
    digest: Digest | None = None

    def to_json(self) -> dict[str, Any]:
        """As a manifest has it: keys of bytes in hexadecimal."""
        entry = {"path": self.path, "rows": self.rows, "bytes": self.bytes, "min_key": _key_to_json(self.min_key),
                 "max_key": _key_to_json(self.max_key)}
        return entry | {"digest": self.digest} if self.digest is not None else entry


@dataclass(frozen=True)
class OtherFile:
    """A file of the snapshot that belongs to no table; fields as in FileEntry."""

    path: FilePath
    bytes: Count
    digest: Digest


@dataclass(frozen=True)
class FileColumns:
    """The fields of many entries, in their order: the n-th file has the n-th value of each list."""

    paths: list[str]
    rows: list[int]
    bytes: list[int]
    min_keys: list[KeyValue | None]
    max_keys: list[KeyValue | None]
    digests: list[str | None]

    @classmethod
    def of(cls, files: Sequence[FileEntry]) -> FileColumns:
        """The columns of these entries."""
        return cls([file.path for file in files], [file.rows for file in files], [file.bytes for file in files],
                   [file.min_key for file in files], [file.max_key for file in files], [file.digest for file in files])

    def __len__(self) -> int:
        return len(self.paths)

    def entries(self) -> Iterator[FileEntry]:
        """The entries one by one."""
        return map(FileEntry, self.paths, self.rows, self.bytes, self.min_keys, self.max_keys, self.digests)

    def check_fields(self) -> None:
        """Raise Mismatch where an entry has a field that a manifest's JSON must not have; its path leads to it."""
        if not self.paths or (min(self.rows) >= 0 and min(self.bytes) >= 0 and _are_digests(self.digests)
                              and location.is_plain_inside("/".join(self.paths))):
            return
        for number, entry in enumerate(self.entries()):
            try:
                build(FileEntry, entry.to_json())
            except Mismatch as error:
                raise error.within(f"[{number}]") from None

    def has_keys_of(self, kind: type | None) -> bool:
        """Whether all keys that there are have this type."""
        return {*map(type, self.min_keys), *map(type, self.max_keys)} <= {kind, type(None)}

    def name_twice(self) -> str:
        """A name that two files have in their folders; "" if there is none."""
        names = [path.rpartition("/")[2] for path in self.paths]
        if len(set(names)) == len(names):
            return ""
        return next(name for name, count in Counter(names).items() if count > 1)

    def out_of_order(self) -> str:
        """The path of the first file with rows whose key range is missing, or does not come after the one before it; ""
        if there is none."""
        ranges: Iterator[tuple[str, Any, Any]] = zip(self.paths, self.min_keys, self.max_keys, strict=True)
        last: Any = None
        for path, low, high in compress(ranges, self.rows):
            if low is None or type(low) is not type(high) or low > high or (
                    last is not None and (type(low) is not type(last) or low <= last)):
                return path
            last = high
        return ""


def _are_digests(digests: Sequence[str | None]) -> bool:
    """Whether all that are there are texts as digests are: ASCII that can be printed, and not long."""
    there = [digest for digest in digests if digest is not None]
    text = "".join(there)
    return text.isascii() and text.isprintable() and all(0 < length <= _LONGEST_DIGEST for length in
                                                         set(map(len, there)))


def _key_to_json(key: KeyValue | None) -> int | str | None:
    return key.hex() if isinstance(key, bytes) else key
