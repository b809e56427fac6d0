"""A snapshot under construction: files that tasks write, files that are carried over from the base, and small files.

`publish` keeps it invisible until it is complete, and then makes it visible.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

import orjson
import pyarrow as pa
from pyarrow import fs

from applier.errors import SnapshotError, UsageError, reason
from applier.io.disk import durable
from applier.snapshot import attempts, lakes
from applier.snapshot.attempts import PASSES
from applier.snapshot.files import location, shards
from applier.snapshot.files.checks import check_size, check_sizes, reading, sizes_below
from applier.snapshot.files.digest import HashedSink, compare_digest, digest_of
from applier.snapshot.files.file_entries import FileColumns, FileEntry, OtherFile
from applier.snapshot.files.file_settings import DEFAULTS
from applier.snapshot.files.partitions import Partition
from applier.snapshot.files.shards import columns_of
from applier.snapshot.manifest import MANIFEST, SNAPSHOTS, Snapshot
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import TableTarget

SCHEMA = "_schema.sql"
REPORT = "_report.json"
CONFLICTS = "_conflicts.parquet"
MARKER = "_incomplete"
"""The marker in an output that is written in place. It exists until the output is complete; a killed run leaves it
behind."""
_COPY_THREADS = 8
_COPY_BYTES = 8 << 20
_CARRIED_AT_ONCE = 100
"""The number of files that a thread carries over one after the other."""
WITHOUT_FOLDERS = ("s3", "gcs", "abfs")
"""File systems where files appear when they are complete, and folders need not be made."""


class Staging:
    """A snapshot that is not published yet. A context manager: it aborts unless `commit` was called, and converts an
    OSError that ends its block to a SnapshotError."""

    def __init__(self, output: str, filesystem: fs.FileSystem, root: str) -> None:
        self.output = output
        self.settings, self.lasts = DEFAULTS, True
        self._filesystem = filesystem
        self._root = root
        self._beside = root
        """The folder to which the manifest and the small files are written."""
        self._prefix = ""
        """The prefix of the names of small files in the manifest, whose paths are relative to `_root`."""
        self._late_attempts = False
        self._lake: str | None = None
        self.merges = False
        """True if tables are merged on read; their files are then below lakes.DATA."""
        self.number = 0
        """The number of the lake's new version."""
        self._folders = dict[tuple[str, str], str]()
        self._partitions = dict[tuple[str, str], Partition | None]()
        self._lock: int | None = None
        self._done = False

    def __enter__(self) -> "Staging":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, _: object) -> None:
        if not self._done:
            self.abort()
        if isinstance(error, OSError):
            raise SnapshotError(f"{reason(error)}: nothing is published", file=error.filename or self.output) from error

    def target(self, database: str, table: str, *, history: bool = False) -> TableTarget:
        """Return where tasks write a table's files, after creating its folder, and its history's if it has one.

        The result is for TableWriter, and picklable.
        """
        folder = location.table_folder(database, table)
        if self.merges:
            folder = self._folders.setdefault((database, table), f"{lakes.DATA}/{uuid4().hex[:12]}")
        target = TableTarget(self._root_uri(), folder, self.settings, self._late_attempts, self.merges,
                             self.partition_of(database, table))
        if self._filesystem.type_name not in WITHOUT_FOLDERS:
            for needed in (target, *([target.changes] if self.merges else []), *([target.history] if history else [])):
                self._filesystem.create_dir(f"{self._root}/{needed.folder}", recursive=True)
        return target

    def keep_folder(self, database: str, table: str, before: TableEntry) -> None:
        """Put the files of a table that is merged on read into the folder of the base's table."""
        if before.folder is not None:
            self._folders[database, table] = before.folder

    def divide(self, database: str, table: str, partition: Partition | None) -> None:
        """Divide the new files of a table by the values of a partition. Raises UsageError in a lake that merges on
        read."""
        if partition is not None and self.merges:
            raise UsageError("a lake that merges on read has no partitions", table=f"{database}.{table}",
                             hint="leave out --partition, or make a lake without --merge-on-read")
        self._partitions[database, table] = partition

    def partition_of(self, database: str, table: str) -> Partition | None:
        """Return what the files of a table are divided by."""
        return self._partitions.get((database, table))

    @property
    def uri(self) -> str:
        """The location of the unpublished files."""
        return self._root_uri()

    def expect_late_attempts(self) -> None:
        """Make tasks write to a folder that readers ignore; `finish_attempts` moves their files. Errors: OSError."""
        self._late_attempts = True
        if self._filesystem.type_name not in WITHOUT_FOLDERS:
            attempts.begin(self._filesystem, self._root)

    def finish_attempts(self, written: Mapping[str, str]) -> None:
        """Move files that tasks wrote to their final paths, and ignore the files of other attempts, now and later. To
        be called when all tasks have ended. `written` as in attempts.finish. Errors: OSError."""
        if self._late_attempts:
            self._late_attempts = False
            attempts.finish(self._filesystem, self._root, written,
                            has_folders=self._filesystem.type_name not in WITHOUT_FOLDERS)

    def carry_over(self, base: Snapshot, files: Sequence[FileEntry], database: str, table: str, *,
                   history: bool = False, changes: bool = False) -> list[FileEntry]:
        """Carry files of the base over into a table, and return their entries: by hard link, or else by a copy, which
        the file system makes if it can. `changes`: the files are row files, or positions. Raises SnapshotError for a
        file that is missing or, if its bytes are read here, does not have its size or digest; `commit` compares the
        sizes of all."""
        target = self.target(database, table, history=history)
        target = target.history if history else target.changes if changes else target
        source_system, source_root = location.resolve(base.root)
        local = location.is_local(source_system) and location.is_local(self._filesystem)

        def carry(entry: FileEntry) -> FileEntry:
            source = f"{source_root}/{entry.path}"
            if not self.merges:
                if entry.changed is not None:
                    raise ValueError(f"{entry.path} alone does not have the rows of its range")
                entry = replace(entry, footer=None)
            name = entry.name if entry.name.endswith(".positions") else entry.stem + target.suffix
            carried = self._carried(entry, f"{target.folder}/{name}")
            if self._is_there(carried):
                return carried
            path = f"{self._root}/{carried.path}"
            with reading(source):
                if local and durable.link(source, path):
                    pass
                elif not local and source_system.equals(self._filesystem):
                    self._filesystem.copy_file(source, path)
                else:
                    self._copy(source_system, source, path, entry)
            return carried

        parts = [files[first:first + _CARRIED_AT_ONCE] for first in range(0, len(files), _CARRIED_AT_ONCE)]
        with ThreadPoolExecutor(_COPY_THREADS) as pool:
            return [entry for done in pool.map(lambda part: list(map(carry, part)), parts) for entry in done]

    def commit(self, snapshot: Snapshot, schema_sql: str, report: dict[str, Any],
               conflicts: bytes | pa.Buffer | None = None) -> Snapshot:
        """Publish, and return the manifest with its URI. Only files that it names stay; in addition there are the
        definitions, the report, the list of conflicts (a Parquet file) if there is one, and the shards of tables with
        many files.

        Raises SnapshotError if a file of the manifest is missing or has a wrong size, if key ranges overlap, or if the
        output appeared meanwhile; nothing is published then, and the caller still has to abort.
        """
        try:
            self._drop(PASSES)
            tables, small = _with_shards(snapshot.tables, self._prefix)
            for table in tables:
                table.check_ranges()
            self._check_files([columns_of(files) for table in tables for files in table.lists])
            self._before_small_files()
            others = {SCHEMA: schema_sql.encode(),
                      REPORT: orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)}
            if conflicts is not None:
                others[CONFLICTS] = conflicts
            location.at_once(self._filesystem, [partial(self._write, name, content)
                                                for name, content in (small | others).items()])
            snapshot = replace(snapshot, tables=tables, lake=self._lake, merges=self.merges, others=tuple(
                OtherFile(f"{self._prefix}{name}", len(content), digest_of(content))
                for name, content in others.items()))
            self._publish(MANIFEST, snapshot.to_json())
        except OSError as error:
            raise SnapshotError(f"cannot publish: {error}", file=self.output) from error
        self._done = True
        self._unlock()
        return replace(snapshot, uri=self.output)

    def commit_files(self, written: Iterable[str], small: dict[str, bytes], last: str, content: bytes) -> None:
        """Publish output that is not a snapshot: written files, given by their paths in it, small files with their
        content, and the last file, which makes it complete. Errors as in `commit`."""
        try:
            self._remove_strays(sizes_below(self._filesystem, self._root, recursive=True),
                                {f"{self._root}/{path}" for path in written})
            for name, text in small.items():
                self._write(name, text)
            self._publish(last, content)
        except OSError as error:
            raise SnapshotError(f"cannot publish: {error}", file=self.output) from error
        self._done = True
        self._unlock()

    def within_pass(self, number: int) -> str:
        """Return the path or URI of a snapshot that is the base of a later pass, and is removed when this one is
        committed."""
        return f"{self._beside_uri()}/{PASSES}/{number}"

    def drop_pass(self, number: int) -> None:
        """Remove the snapshot of a pass from which no other pass continues, if there is one."""
        self._drop(f"{PASSES}/{number}")

    def within(self, name: str) -> tuple[str, str]:
        """Return the path or URI of one of several snapshots in a folder, which are published together: the one to
        `begin` it at, and the final one. `commit_folder` publishes them."""
        return f"{self._root_uri()}/{name}", f"{self.output.rstrip('/')}/{name}"

    def commit_folder(self, listing: bytes) -> None:
        """Publish a folder of snapshots that were committed `within` it, with a list of them. Errors as in `commit`."""
        try:
            self._publish(SNAPSHOTS, listing)
        except OSError as error:
            raise SnapshotError(f"cannot publish: {error}", file=self.output) from error
        self._done = True
        self._unlock()

    def abort(self) -> None:
        """Remove everything that this run wrote. Files that cannot be removed are left for the next run, like those of
        a killed run."""
        self._done = True
        try:
            with suppress(OSError):
                self._discard()
        finally:
            self._unlock()

    def _root_uri(self) -> str:
        """Return `_root` as a location for tasks on other machines."""
        raise NotImplementedError

    def _beside_uri(self) -> str:
        """Return `_beside` as a location for tasks on other machines."""
        return self._root_uri()

    def _carried(self, entry: FileEntry, path: str) -> FileEntry:
        """Return the entry of a file that is carried over to a path."""
        return replace(entry, path=path)

    def _is_there(self, carried: FileEntry) -> bool:
        """Return whether a file that is carried over is already at its path."""
        return False

    def _check_files(self, lists: Sequence[FileColumns]) -> None:
        """Raise SnapshotError unless all files exist and have their sizes. Other files are removed."""
        found, named = sizes_below(self._filesystem, self._root, recursive=True), set[str]()
        for columns in lists:
            check_sizes(found, columns, self._root)
            named.update(f"{self._root}/{path}" for path in columns.paths)
        self._remove_strays(found, named)

    def _before_small_files(self) -> None:
        """Called before the first small file is written."""

    def _publish(self, name: str, content: bytes) -> None:
        """Publish by writing the last file, after everything else is durable."""
        raise NotImplementedError

    def _discard(self) -> None:
        raise NotImplementedError

    def _copy(self, source_system: fs.FileSystem, source: str, target: str, entry: FileEntry) -> None:
        """Copy a file in parts, and compare its size and digest meanwhile."""
        with source_system.open_input_stream(source, compression=None) as stream:
            sink = HashedSink(self._filesystem.open_output_stream(target, compression=None))
            try:
                while part := stream.read(_COPY_BYTES):
                    sink.write(part)
            finally:
                sink.close()
        check_size(sink.tell(), entry.bytes, source)
        compare_digest(sink.digest, entry.digest, source)

    def _remove_strays(self, found: Iterable[str], named: set[str]) -> None:
        """Remove files of failed and repeated attempts: readers of DB/TABLE/*.parquet must not find their rows. Files
        that readers ignore are removed if possible: a late attempt may have one open."""
        for path in found:
            if path not in named and path.rpartition("/")[2] != MARKER:
                with suppress(OSError) if attempts.is_hidden(self._root, path) else nullcontext():
                    self._filesystem.delete_file(path)

    def _drop(self, folder: str) -> None:
        """Remove a folder and its contents, if it exists."""
        path = f"{self._beside}/{folder}"
        if self._filesystem.get_file_info(path).type == fs.FileType.Directory:
            self._filesystem.delete_dir(path)

    def _write(self, name: str, content: bytes | pa.Buffer) -> None:
        if "/" in name and self._filesystem.type_name not in WITHOUT_FOLDERS:
            self._filesystem.create_dir(f"{self._beside}/{name}".rpartition("/")[0], recursive=True)
        with self._filesystem.open_output_stream(f"{self._beside}/{name}", compression=None) as stream:
            stream.write(content)

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _with_shards(tables: Iterable[TableEntry], prefix: str
                 ) -> tuple[tuple[TableEntry, ...], dict[str, bytes | pa.Buffer]]:
    """Return the tables, with the entries of tables with many files in shards, and the shards by name, which is the
    path without the prefix."""
    contents: dict[str, bytes | pa.Buffer] = {}

    def listed(files: Sequence[FileEntry], folder: str) -> Sequence[FileEntry]:
        if len(files) <= shards.MOST_INLINE:
            return files
        made, content = shards.make_shard(files, folder, prefix)
        contents[made.shard.path.removeprefix(prefix)] = content
        return made

    made = []
    for table in tables:
        target = TableTarget("", table.folder or location.table_folder(table.database, table.name))
        made.append(replace(table, files=listed(table.files, target.folder),
                            history=listed(table.history, target.history.folder)))
    return tuple(made), contents
