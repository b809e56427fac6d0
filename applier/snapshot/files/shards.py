"""Shards: the entries of a table with many files, as a Parquet file that is read on demand.

    _files/DB/TABLE.parquet    path, rows, bytes, min_key, max_key, digest: one row per file, in the manifest's order;
                               in a lake that merges on read also footer_bytes, footer_digest, stored_rows,
                               row_file_rows, version, as in FileEntry

A shard is written without compression and without dictionaries, so that its entries take memory in proportion to the
bytes that the manifest states; a shard whose entries take more is refused. All files of a shard are in one folder,
which has no other table's files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

from applier.errors import SnapshotError, reason
from applier.io.parquet_reading import open_parquet
from applier.io.typed_json import Count, Mismatch, build
from applier.snapshot.files import location
from applier.snapshot.files.file_entries import Changed, Digest, FileColumns, FileEntry, FilePath, Footer

if TYPE_CHECKING:
    import pyarrow as pa

_Made = TypeVar("_Made")
MOST_INLINE = 500
"""The most files whose entries are in the manifest itself. Reading that many there takes 5 ms (measured); a shard takes
1 ms more than its entries, and on an object store a request, but is read only on demand."""
FOLDER = "_files"
_HASH = "blake2b-128"
_KEYS = (int, bytes)
_LEAST_BYTES = 20
"""The fewest bytes of a file's entry."""
_READ_AT_ONCE, _MOST_DECODED = 256, 2
"""The number of entries that are decoded at a time, and the memory that all of them may take, in multiples of the
shard's bytes. Nothing else in a footer is read, since some possible contents make Arrow abort the process."""
_FOOTER, _CHANGED = ("footer_bytes", "footer_digest"), ("stored_rows", "row_file_rows", "version")
_TEXTS = ("footer_digest",)
"""Columns of lakes that merge on read: the fields of a Footer and of Changed."""
_REPLACE = "replay or import it again, or restore its files from a backup"


@dataclass(frozen=True)
class Shard:
    """A manifest's entry of a shard: its path, size and digest; the folder of its files, their number, and the sums of
    their rows and bytes."""

    path: FilePath
    bytes: Count
    digest: Digest
    folder: FilePath
    files: Count
    rows: Count
    file_bytes: Count


class ShardedFiles(Sequence[FileEntry]):
    """Entries that are in a shard. Their number, and the sums of their rows and bytes, are known. The entries are read
    once, at the first access, which raises SnapshotError if the shard is damaged."""

    def __init__(self, shard: Shard, read: Callable[[], FileColumns]) -> None:
        self.shard, self._read = shard, read

    @cached_property
    def columns(self) -> FileColumns:
        """All entries."""
        return self._read()

    def __len__(self) -> int:
        return self.shard.files

    def __iter__(self) -> Iterator[FileEntry]:
        return self.columns.entries()

    @overload
    def __getitem__(self, index: int) -> FileEntry: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[FileEntry, ...]: ...

    def __getitem__(self, index: int | slice) -> FileEntry | tuple[FileEntry, ...]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and tuple(self) == tuple(other)


def columns_of(files: Sequence[FileEntry]) -> FileColumns:
    """Return the columns of entries, whether they are in a shard or in the manifest."""
    return files.columns if isinstance(files, ShardedFiles) else FileColumns.of(files)


def rows_and_bytes(files: Sequence[FileEntry]) -> tuple[int, int]:
    """Return the sums of rows and bytes of files. No shard is read."""
    if isinstance(files, ShardedFiles):
        return files.shard.rows, files.shard.file_bytes
    return sum(file.rows for file in files), sum(file.bytes for file in files)


def make_shard(files: Sequence[FileEntry], folder: str, prefix: str = "") -> tuple[ShardedFiles, pa.Buffer]:
    """Make a shard of files in a folder of the snapshot. Returns its entry and its content; `prefix` is the start of
    its path in a lake."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = FileColumns.of(files)
    keys = [columns.min_keys, columns.max_keys]
    kind = next((kind for kind in _KEYS if columns.has_keys_of(kind)), None)
    merging = [*_fields_of(columns.footers, Footer), *_fields_of(columns.changed, Changed)]
    merges = any(value is not None for values in merging for value in values)
    lists = [columns.paths, columns.rows, columns.bytes, *(keys if kind is not None else []), columns.digests,
             *(merging if merges else [])]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(lists, schema=_schema(kind, merges=merges)), sink, compression="none", use_dictionary=False,
                   write_statistics=False, store_schema=False)
    content = sink.getvalue()
    shard = Shard(f"{prefix}{FOLDER}/{folder}.parquet", content.size, own_digest(content), folder, len(columns),
                  sum(columns.rows), sum(columns.bytes))
    if wrong := _disagreement(columns, shard):
        raise ValueError(f"the shard {wrong}")
    return ShardedFiles(shard, lambda: columns), content


def read_shard(uri: str, shard: Shard, table: str, complaint: Callable[[FileColumns], str]) -> FileColumns:
    """Return the entries of a shard of the snapshot at a path or uri; `complaint` returns an error about them for the
    table ("" for none). Raises SnapshotError for a shard that is missing or does not match the manifest."""
    from applier.snapshot.files.checks import check_size, reading

    filesystem, root = location.resolve(uri)
    path = f"{root}/{shard.path}"
    try:
        with reading(path), filesystem.open_input_file(path) as source:
            check_size(source.size(), shard.bytes, path)
            data = source.read_buffer(shard.bytes)
        columns = _parsed(data, shard)
        columns.check_fields()
        if wrong := _disagreement(columns, shard) or complaint(columns):
            raise Mismatch(wrong)
    except SnapshotError as error:
        raise SnapshotError(error.message, file=path, table=table, hint=_REPLACE) from error
    except Mismatch as error:
        raise SnapshotError(f"a list of the table's files is damaged: {error}", file=path, table=table,
                            hint=_REPLACE) from error
    return columns


def _parsed(data: pa.Buffer, shard: Shard) -> FileColumns:
    """Parse a shard. Raises Mismatch if its bytes are not those of the manifest, or before its entries take more memory
    than the manifest's sizes allow."""
    import pyarrow as pa

    if own_digest(data) != shard.digest:
        raise Mismatch("was changed after it was written: its digest does not match")
    try:
        file = open_parquet(pa.BufferReader(data), is_checked=True)
        if file.metadata.num_rows != shard.files or shard.files > shard.bytes // _LEAST_BYTES:
            raise Mismatch(f"has {file.metadata.num_rows} files, its manifest says {shard.files}")
        if not any(file.schema_arrow.equals(_schema(kind, merges=merges)) for kind in (*_KEYS, None)
                   for merges in (False, True)):
            raise Mismatch(f"has other columns than a shard: {', '.join(file.schema_arrow.names)}")
        batches, decoded = [], 0
        for batch in file.iter_batches(_READ_AT_ONCE, use_threads=False):
            batches.append(batch)
            if (decoded := decoded + batch.nbytes) > _MOST_DECODED * shard.bytes:
                raise Mismatch("is not written as shards are: its entries take more memory than its bytes")
        table = pa.Table.from_batches(batches, file.schema_arrow)
        table.validate(full=True)  # whether text is UTF-8
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise Mismatch(f"cannot be read: {reason(error) if isinstance(error, OSError) else error}") from error
    nothing: list[Any] = [None] * table.num_rows
    lists: dict[str, list[Any]] = {name: table.column(name).to_pylist() for name in table.column_names}
    footers = _from_fields(Footer, [lists.get(name, nothing) for name in _FOOTER])
    changed = _from_fields(Changed, [lists.get(name, nothing) for name in _CHANGED])
    return FileColumns(lists["path"], lists["rows"], lists["bytes"], lists.get("min_key", nothing),
                       lists.get("max_key", nothing), lists["digest"], footers, changed, nothing)


def _fields_of(values: Sequence[Any], kind: type) -> list[list[Any]]:
    """Return each field of these values, which are of one type or None, as a list."""
    return [[None if value is None else getattr(value, one.name) for value in values] for one in fields(kind)]


def _from_fields(kind: type[_Made], lists: Sequence[list[Any]]) -> list[_Made | None]:
    """Return the values with the fields in these lists; None where the first field is None. Raises Mismatch for an
    impossible value."""
    if not any(value is not None for value in lists[0]):
        return [None] * len(lists[0])
    names = [one.name for one in fields(kind)]  # type: ignore[arg-type]  # a dataclass, as all kinds are
    return [None if values[0] is None else build(kind, dict(zip(names, values, strict=True)))
            for values in zip(*lists, strict=True)]


def _disagreement(columns: FileColumns, shard: Shard) -> str:
    """Return how the shard contradicts the manifest; "" if it does not."""
    inside, depth = f"{shard.folder}/", shard.folder.count("/") + 1
    for path in columns.paths:
        if not path.startswith(inside) or path.count("/") != depth:
            return f"names a file that is not in the folder {shard.folder}: {path!r}"
    found = sum(columns.rows), sum(columns.bytes)
    if found != (shard.rows, shard.file_bytes):
        return (f"has files of {found[0]} rows and {found[1]} bytes, its manifest says {shard.rows} and "
                f"{shard.file_bytes}")
    return ""


def _schema(kind: type | None, *, merges: bool) -> pa.Schema:
    """Return the columns of a shard of files with keys of this type; None: files without keys."""
    import pyarrow as pa

    columns = [pa.field("path", pa.string(), nullable=False), pa.field("rows", pa.int64(), nullable=False),
              pa.field("bytes", pa.int64(), nullable=False)]
    if kind is not None:
        of_kind = pa.int64() if kind is int else pa.binary()
        columns += [pa.field("min_key", of_kind), pa.field("max_key", of_kind)]
    columns.append(pa.field("digest", pa.string()))
    if merges:
        columns += [pa.field(name, pa.string() if name in _TEXTS else pa.int64()) for name in (*_FOOTER, *_CHANGED)]
    return pa.schema(columns)


def own_digest(content: bytes | pa.Buffer) -> str:
    """Return the digest of one of a snapshot's own documents. Its hash needs no kernel, since these are read where no
    kernel should be loaded."""
    return f"{_HASH}:{hashlib.blake2b(content, digest_size=16).hexdigest()}"
