"""A manifest's entries for files: path, rows, bytes, range of keys, and digest.

A single file is a FileEntry. Many files together, up to a hundred thousand, are FileColumns: the same fields, one list
each.

In a lake that merges on read (applier.snapshot.lake.merged_rows) a file stands for a range of keys, from its first key
to before the next file's. `rows`, `min_key` and `max_key` are those of the range then, and Overlay describes its rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Annotated, Any, Literal

from applier.io.typed_json import Count, Mismatch, between, build
from applier.snapshot.files import location

KeyKind = Literal["int", "bytes"]
KeyValue = Annotated[int, between(-2**63, 2**63 - 1)] | bytes
FilePath = Annotated[str, lambda path: "" if location.is_plain_inside(path) else f"is a path outside of it: {path!r}"]
_LONGEST_DIGEST = 200
Digest = Annotated[str, lambda digest: "" if _are_digests([digest]) else "is no digest"]


@dataclass(frozen=True)
class Footer:
    """The end of a file, after its row groups: its number of bytes, and their digest. It contains the positions and
    digests of the row groups (applier.snapshot.files.row_groups), so that single row groups can be read."""

    bytes: Count
    digest: Digest


@dataclass(frozen=True)
class Changed:
    """The effect of changes on a file's range: `stored_rows` rows are in the file, dead ones included; `row_file_rows`
    rows of the range are in row files; `version` is the last version of the lake that changed the range."""

    stored_rows: Count
    row_file_rows: Count
    version: Count


@dataclass(frozen=True)
class Layer:
    """The files that are merged with the files of a table: row files, each sorted by the table's key, with rows from
    anywhere in the table; and files of positions, which name the dead rows of files and row files."""

    key: tuple[str, ...]
    key_kind: KeyKind
    key_rules: tuple[str, ...]
    row_files: tuple[FileEntry, ...] = ()
    positions: tuple[FileEntry, ...] = ()
    divided: bool = False
    """True if the table has partitions: each row file has rows of one range only."""


@dataclass(frozen=True)
class Overlay:
    """The layer over a file, and the range of keys whose rows in row files belong to the file: from `low` to before
    `high` (None: no bound)."""

    layer: Layer
    low: KeyValue | None
    high: KeyValue | None


@dataclass(frozen=True)
class FileEntry:
    """One Parquet file: `path` relative to the snapshot with "/", `bytes` its size, keys None if the table has none,
    `digest` that of all its bytes, None if an older version wrote it. `footer` and `changed` exist only in lakes that
    merge on read; the entry of a file with `changed` is a MergedFile."""

    path: FilePath
    rows: Count
    bytes: Count
    min_key: KeyValue | None = None
    max_key: KeyValue | None = None
    digest: Digest | None = None
    footer: Footer | None = None
    changed: Changed | None = None

    @property
    def name(self) -> str:
        """Its name in its folder."""
        return self.path.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """Its name without the extension, by which positions name it: it stays the same wherever the file is carried
        over."""
        return self.name.rpartition(".")[0]

    @property
    def stored_rows(self) -> int:
        """The number of rows in the file itself."""
        return self.rows if self.changed is None else self.changed.stored_rows

    @property
    def bytes_of_range(self) -> int:
        """The size of all files with rows of its range alone."""
        return self.bytes

    def to_json(self) -> dict[str, Any]:
        """Return the entry as a manifest has it: keys of bytes are in hexadecimal."""
        entry = {"path": self.path, "rows": self.rows, "bytes": self.bytes, "min_key": _key_to_json(self.min_key),
                 "max_key": _key_to_json(self.max_key)}
        more = {"digest": self.digest, "footer": self.footer, "changed": self.changed}
        return entry | {name: value for name, value in more.items() if value is not None}


@dataclass(frozen=True)
class MergedFile(FileEntry):
    """A file whose range has changed, or is divided among files, with the files that are merged with it."""

    overlay: Overlay = field(kw_only=True, compare=False, repr=False)

    @property
    def bytes_of_range(self) -> int:
        layer = self.overlay.layer
        return self.bytes + sum(file.bytes for file in layer.row_files if layer.divided)


def divided_range(parts: Sequence[FileEntry], layer: Layer) -> FileEntry:
    """Return the entry of a range of keys whose rows are divided among these files, in the order of their first keys:
    the others are merged with the first one. `layer` has the key."""
    first, *others = parts
    if not others:
        return first
    ends: list[Any] = [part.max_key for part in parts]
    rows = sum(part.rows for part in parts)
    return MergedFile(first.path, rows, first.bytes, first.min_key, max(ends), first.digest,
                      changed=Changed(first.rows, rows - first.rows, 0),
                      overlay=Overlay(replace(layer, row_files=tuple(others)), None, None))


def undivided(files: Iterable[FileEntry]) -> Iterator[FileEntry]:
    """Yield the files of ranges one by one, with the files that are merged with each: the first one of a range keeps
    the range's bounds."""
    for file in files:
        if not isinstance(file, MergedFile):
            yield file
            continue
        yield FileEntry(file.path, file.stored_rows, file.bytes, file.min_key, file.max_key, file.digest, file.footer)
        yield from file.overlay.layer.row_files


@dataclass(frozen=True)
class OtherFile:
    """A file of the snapshot that belongs to no table; fields as in FileEntry."""

    path: FilePath
    bytes: Count
    digest: Digest


@dataclass(frozen=True)
class FileColumns:
    """The fields of many entries: the n-th file has the n-th value of each list."""

    paths: list[str]
    rows: list[int]
    bytes: list[int]
    min_keys: list[KeyValue | None]
    max_keys: list[KeyValue | None]
    digests: list[str | None]
    footers: list[Footer | None]
    changed: list[Changed | None]
    overlays: list[Overlay | None]

    @classmethod
    def of(cls, files: Sequence[FileEntry]) -> FileColumns:
        """Return the columns of these entries."""
        return cls([file.path for file in files], [file.rows for file in files], [file.bytes for file in files],
                   [file.min_key for file in files], [file.max_key for file in files], [file.digest for file in files],
                   [file.footer for file in files], [file.changed for file in files],
                   [file.overlay if isinstance(file, MergedFile) else None for file in files])

    def __len__(self) -> int:
        return len(self.paths)

    def entries(self) -> Iterator[FileEntry]:
        """The entries one by one."""
        entries = map(FileEntry, self.paths, self.rows, self.bytes, self.min_keys, self.max_keys, self.digests,
                      self.footers, self.changed)
        if not any(self.overlays):
            return entries
        return (entry if overlay is None else MergedFile(**vars(entry), overlay=overlay)
                for entry, overlay in zip(entries, self.overlays, strict=True))

    def under(self, layer: Layer) -> FileColumns:
        """Return the same files, with this layer over those that have changes."""
        lows: list[KeyValue | None] = [None, *self.min_keys[1:], None]
        layers = self._layers_of_ranges(layer) if layer.divided else [layer] * len(self)
        return replace(self, overlays=[None if changed is None else Overlay(of_range, low, high)
                                       for changed, of_range, low, high
                                       in zip(self.changed, layers, lows, lows[1:], strict=False)])

    def _layers_of_ranges(self, layer: Layer) -> list[Layer]:
        """Return the layer over each file, with the row files of its range alone."""
        lows: list[Any] = self.min_keys
        found: list[list[FileEntry]] = [[] for _ in lows]
        for file in layer.row_files:
            found[max(0, bisect_right(lows, file.min_key) - 1)].append(file)
        return [replace(layer, row_files=tuple(own)) for own in found]

    def check_fields(self) -> None:
        """Raise Mismatch for a field of an entry that a manifest's JSON must not have; its path names the field."""
        if not self.paths or (min(self.rows) >= 0 and min(self.bytes) >= 0 and _are_digests(self.digests)
                              and location.is_plain_inside("/".join(self.paths))):
            return
        for number, entry in enumerate(self.entries()):
            try:
                build(FileEntry, entry.to_json())
            except Mismatch as error:
                raise error.within(f"[{number}]") from None

    def has_keys_of(self, kind: type | None) -> bool:
        """Return whether all existing keys have this type."""
        return {*map(type, self.min_keys), *map(type, self.max_keys)} <= {kind, type(None)}

    def name_twice(self) -> str:
        """Return a name that two files have in their folders; "" if there is none."""
        names = [path.rpartition("/")[2] for path in self.paths]
        if len(set(names)) == len(names):
            return ""
        return next(name for name, count in Counter(names).items() if count > 1)

    def out_of_order(self) -> str:
        """Return the path of the first file with rows whose key range is missing, or does not come after the previous
        one; "" if there is none."""
        ranges: Iterator[tuple[str, Any, Any]] = zip(self.paths, self.min_keys, self.max_keys, strict=True)
        last: Any = None
        for path, low, high in compress(ranges, self.rows):
            if low is None or type(low) is not type(high) or low > high or (
                    last is not None and (type(low) is not type(last) or low <= last)):
                return path
            last = high
        return ""


def _are_digests(digests: Sequence[str | None]) -> bool:
    """Return whether all given digests have the form of digests: short printable ASCII."""
    there = [digest for digest in digests if digest is not None]
    text = "".join(there)
    return text.isascii() and text.isprintable() and all(0 < length <= _LONGEST_DIGEST for length in
                                                         set(map(len, there)))


def _key_to_json(key: KeyValue | None) -> int | str | None:
    return key.hex() if isinstance(key, bytes) else key
