"""The tables of a manifest, as Python values and as JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from applier.errors import SnapshotError
from applier.schema.definition import TableDefinition
from applier.snapshot.files.file_entries import FileColumns, FileEntry, FilePath, KeyKind, Layer
from applier.snapshot.files.shards import Shard, ShardedFiles, columns_of, read_shard, rows_and_bytes

KeyRule = Annotated[str, lambda rule: "" if re.fullmatch(r"[0-9A-Za-z_]*(\([1-9][0-9]{0,9}\))?", rule) else
                    "is no collation with a number of characters"]
_KINDS = {"int": int, "bytes": bytes, None: type(None)}
_OUT_OF_ORDER = "the key range of {} is missing, or overlaps with the file before it"


@dataclass(frozen=True)
class TableEntry:
    """One table. `key` names the columns that its files are sorted by, by `key_rules` (keysearch.keyrules). `files` are
    the files that readers see; `history`, of a system-versioned table, are the files with all its rows, past ones
    included, and all columns. Either may be in a shard, which is read on demand. In a lake that merges on read,
    `row_files` and `positions` are merged with the files (file_entries.Layer), and `folder` is the folder of all files
    of the table. `unordered`: a table without a key and partitions has its rows in another order than the server, since
    its partitions were changed. `ordered`: of a table without a key and with partitions, the rows of each partition
    are in the server's order. `misplaced`: some rows lie in partitions to which they do not belong; the files' own
    metadata say which (files.value_marks)."""

    database: str
    name: str
    definition: TableDefinition
    key: tuple[str, ...] = ()
    key_kind: KeyKind | None = None
    files: Sequence[FileEntry] = ()
    key_rules: tuple[KeyRule, ...] = ()
    history: Sequence[FileEntry] = ()
    row_files: tuple[FileEntry, ...] = ()
    positions: tuple[FileEntry, ...] = ()
    folder: str | None = None
    unordered: bool = False
    ordered: bool = False
    misplaced: bool = False

    @property
    def full_name(self) -> str:
        """ "db.table", as errors name it."""
        return f"{self.database}.{self.name}"

    @property
    def in_order(self) -> bool:
        """True if the rows of a table without a key, or of each of its partitions, are in the server's order."""
        return not self.unordered if self.definition.partitioning is None else self.ordered

    @property
    def lists(self) -> tuple[Sequence[FileEntry], ...]:
        """Its lists of files: for readers, of the history, row files and positions."""
        return self.files, self.history, self.row_files, self.positions

    @property
    def layer(self) -> Layer | None:
        """The files that are merged with its files; None if there are none."""
        if self.key_kind is None or not (self.row_files or self.positions):
            return None
        return Layer(self.key, self.key_kind, self.key_rules, self.row_files, self.positions)

    @property
    def sharded(self) -> tuple[ShardedFiles, ...]:
        """The lists of files that are in shards."""
        return tuple(files for files in self.lists if isinstance(files, ShardedFiles))

    @property
    def rows(self) -> int:
        """The number of rows in all files."""
        return rows_and_bytes(self.files)[0]

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(rows_and_bytes(files)[1] for files in (self.files, self.row_files, self.positions))

    def check_ranges(self) -> None:
        """Raise SnapshotError if a file's key range is missing, or does not come after the previous file's."""
        if self.key_kind is not None and (path := columns_of(self.files).out_of_order()):
            raise SnapshotError(_OUT_OF_ORDER.format(path), table=self.full_name)

    def to_json(self) -> dict[str, Any]:
        """Return the entry as a manifest has it."""
        entry = {"database": self.database, "name": self.name, "definition": self.definition.to_json(), "key": self.key,
                 "key_kind": self.key_kind, "key_rules": self.key_rules, "files": _files_to_json(self.files)}
        more = {"history": _files_to_json(self.history) if self.history else (), "folder": self.folder,
                "row_files": _files_to_json(self.row_files), "positions": _files_to_json(self.positions),
                "unordered": self.unordered, "ordered": self.ordered, "misplaced": self.misplaced}
        return entry | {name: value for name, value in more.items() if value}


@dataclass(frozen=True)
class TableDocument:
    """A table in a manifest's JSON, field by field."""

    database: str
    name: str
    definition: TableDefinition
    key: tuple[str, ...] = ()
    key_kind: KeyKind | None = None
    files: tuple[FileEntry, ...] | Shard = ()
    key_rules: tuple[KeyRule, ...] = ()
    history: tuple[FileEntry, ...] | Shard = ()
    row_files: tuple[FileEntry, ...] = ()
    positions: tuple[FileEntry, ...] = ()
    folder: FilePath | None = None
    unordered: bool = False
    ordered: bool = False
    misplaced: bool = False

    @property
    def merges(self) -> bool:
        """True if it has the form of a lake that merges on read. The contents of a shard are not checked."""
        lists = [files for files in (self.files, self.history) if not isinstance(files, Shard)]
        return self.folder is not None or bool(self.row_files or self.positions) or any(
            file.changed is not None or file.footer is not None for files in lists for file in files)

    def complaint(self) -> str:
        """Return an error in the entry; "" if there is none. The contents of a shard are not checked."""
        if (self.key_kind is None) != (not self.key) or len(self.key_rules) not in (0, len(self.key)):
            return f"has a key of {len(self.key)} columns, {len(self.key_rules)} rules and kind {self.key_kind}"
        if (self.row_files or self.positions) and (self.key_kind is None or self.history):
            return "has files to merge, but no key, or a history"
        for files, of_history in ((self.files, False), (self.history, True), (self.row_files, False)):
            if not isinstance(files, Shard) and \
                    (wrong := self._wrong_files(FileColumns.of(files), of_history=of_history)):
                return wrong
        shown = self.definition.shown
        if (shown.database, shown.name) != (self.database, self.name):
            return f"has the definition of {shown.full_name!r}"
        stored = {column.name for column in shown.stored_columns}
        unknown = [name for name in self.key if name not in stored]
        return f"has a key of columns that it lacks: {unknown!r}" if unknown else ""

    def entry(self, uri: str) -> TableEntry:
        """Return the table; its manifest was loaded from a path or URI."""
        entry = TableEntry(self.database, self.name, self.definition, self.key, self.key_kind, (), self.key_rules,
                           self._listed(uri, self.history, partial(self._wrong_files, of_history=True), None),
                           self.row_files, self.positions, self.folder, self.unordered, self.ordered, self.misplaced)
        return replace(entry, files=self._listed(uri, self.files, self._wrong_shard, entry.layer))

    def _listed(self, uri: str, files: tuple[FileEntry, ...] | Shard, wrong: Callable[[FileColumns], str],
                layer: Layer | None) -> Sequence[FileEntry]:
        if not isinstance(files, Shard):
            return under(files, layer)
        read = partial(read_shard, uri, files, f"{self.database}.{self.name}", wrong)
        return ShardedFiles(files, read if layer is None else lambda: read().under(layer))

    def _wrong_files(self, columns: FileColumns, *, of_history: bool) -> str:
        """Return an inconsistency between the files of a list, except for the order of their keys; "" if there is none.
        """
        kinds = (int, bytes) if of_history else (_KINDS[self.key_kind],)
        if not any(map(columns.has_keys_of, kinds)):
            return "has key ranges of another kind than its key"
        if not (self.row_files or self.positions) and any(columns.changed):
            return "has files with changes that nothing names"
        name = columns.name_twice()  # a snapshot that carries them over has all in one folder
        return f"has two files with the name {name!r}" if name else ""

    def _wrong_shard(self, columns: FileColumns) -> str:
        """Return an inconsistency between a shard's files that readers see; "" if there is none."""
        if wrong := self._wrong_files(columns, of_history=False):
            return wrong
        path = columns.out_of_order() if self.key_kind is not None else ""
        return _OUT_OF_ORDER.format(path) if path else ""


def under(files: Sequence[FileEntry], layer: Layer | None) -> Sequence[FileEntry]:
    """Return files, with this layer over those that have changes."""
    if layer is None or not any(file.changed for file in files):
        return files
    return tuple(FileColumns.of(files).under(layer).entries())


def _files_to_json(files: Sequence[FileEntry]) -> list[dict[str, Any]] | Shard:
    return files.shard if isinstance(files, ShardedFiles) else [file.to_json() for file in files]
