"""The manifest of a snapshot: its binlog position, and which files hold which keys of which table.

    _snapshot.json
      format_version  3; 4 in a lake that merges on read; older versions wrote 1, and 2 with shards
      created_by      program and version
      position        {file, offset, gtid_set, timestamp, flavour, group_id: number or null, tail: digest or null}
      source          {binlogs: [name, …], options: {…}, base: uri or null}
      databases       [{name, charset, collation}, …]    inherited by tables that are created later
      sequences       [[database, name], …]    MariaDB's, whose numbers are rows of the log but not of a snapshot
      objects         [{object: {kind, database, name, table: [database, name] or null, event}, statements: [text, …],
                        database, sql_mode, place, end: null}, …]    triggers, views, routines and events, as text only
      prepared        [{xid, file, start, end, gtid}, …]    XA transactions that are neither committed nor rolled back
      left_out        [{groups, row_events, gtids, server_ids: [number, …], ignore_server_ids: [number, …]}, …]
                      transactions before the position whose changes are not here, because a replay excluded them
      last_column_id  the last number that a column was given (applier.schema.column_ids)
      lower_case_table_names  0, 1 or 2: whether the server distinguishes names by case; null: unknown
      lineage         32 hexadecimal digits, which a snapshot shares with its base
      lake            the lake's id, in a version of a lake only: paths are then below the lake (applier.snapshot.lakes)
      tables          [{database, name, definition, key: [column, …], key_kind: "int" | "bytes" | null,
                        key_rules: [rule, …], files: [{path, rows, bytes, min_key, max_key, digest}, …],
                        history: [file, …],    of a system-versioned table: all its rows, also those of the past
                        unordered: true,       without a key: rows are in another order than the server's;
                        ordered: true,         the same of rows of each partition: they are in the server's order;
                        misplaced: true}, …]   some rows lie in partitions to which they do not belong;
                        instead of many files, a shard (applier.snapshot.files.shards):
                        {path, bytes, digest, folder, files, rows, file_bytes}
                        in a lake that merges on read also folder, row_files: [file, …], positions: [file, …], and of
                        a file footer: {bytes, digest}, changed: {stored_rows, row_file_rows, version}
      others          [{path, bytes, digest}, …]    all other files: definitions, report, conflicts
      digest          of the manifest itself: of all before it, as compact JSON

A snapshot is complete if its manifest exists, and only files that it names count. Digests are texts that begin with
the name of their hash (applier.snapshot.files.digest); snapshots of older versions have none. A manifest is accepted
only if every field has its type and bounds (applier.io.typed_json), and its digest is right.

Each of a table's files holds one sorted key range, in ascending order; min_key and max_key are of the first and last
row, as numbers if the kind is "int", else as hex of the key's bytes (keysearch.keybytes has both encodings). The rules
give the collations and prefixes of the bytes (keysearch.keyrules); there are none if every column
is compared as a whole and byte for byte. A table without a usable key has no kind and no ranges.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

from applier.binlog.archive.log_names import check_gtids, check_log_name
from applier.binlog.locating.gtid_choice import GtidChoice, shortened
from applier.binlog.locating.place import Executed, Timed
from applier.errors import SchemaError, SnapshotError, UsageError, reason
from applier.io.resolver import folder_of
from applier.io.typed_json import Count, Mismatch, Seconds, between, build, loads
from applier.schema.allowed import check_name, check_word
from applier.schema.column_ids import numbered
from applier.schema.stored_object import StoredObject
from applier.snapshot import lakes
from applier.snapshot.files import location
from applier.snapshot.files.file_entries import Digest, OtherFile
from applier.snapshot.files.shards import Shard, ShardedFiles, own_digest
from applier.snapshot.table_entry import TableDocument, TableEntry
from applier.version import __version__

MANIFEST = lakes.MANIFEST
SNAPSHOTS = "_snapshots.json"
"""The list of snapshots in a folder of several, written last."""
_SHOWN = 5
"""The most snapshots of a folder that an error names."""
FORMAT_VERSION, MERGING_VERSION = 3, 4
_READ = (1, 2, FORMAT_VERSION, MERGING_VERSION)
_WITHOUT_SHARDS = 1

UNKNOWN = "unknown"
"""The flavour of a dump that does not name its server: its definitions are read as MySQL's until a log tells the
flavour."""

Lineage = Annotated[str, lambda text: "" if re.fullmatch("[0-9a-f]{32}|", text) else f"is {text!r}, no lineage"]
ServerId = Annotated[int, between(0, 2**32 - 1)]
Flavour = Annotated[str, lambda name: "" if name in ("mysql", "mariadb", UNKNOWN) else
                    f"is {name!r}, not one of mysql, mariadb, {UNKNOWN}"]


@dataclass(frozen=True)
class BinlogPosition(Timed, Executed):
    """The position up to which the log is applied: the end of an event group.

    `file` is "" if unknown, as in an imported dump without a position. `timestamp` is the group's, in seconds since
    1970 UTC, or None before the first group or if unknown; `gtid_set` is everything executed, in the flavour's
    notation, "" without GTIDs; `group_id` is the last group's, None if headers have none (GRP-3); `flavour` is the
    server's, UNKNOWN for a dump that does not name it. `tail` is the digest of the last 64 KB of the log before the
    position, by which a later replay recognizes the file; None if unknown.
    """

    file: str
    offset: Count
    gtid_set: str
    timestamp: Seconds | None
    flavour: Flavour
    group_id: int | None = None
    tail: Digest | None = None

    def __post_init__(self) -> None:
        check_log_name(self.file)
        check_gtids(self.gtid_set)
        if type(self.offset) is not int:
            raise UsageError(f"{self.offset!r} is not an offset in a binlog")

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}" if self.file else "an unknown binlog position"


@dataclass(frozen=True)
class DatabaseEntry:
    """A database's default character set and collation, which tables that are created in it later inherit."""

    name: str
    charset: str
    collation: str

    def __post_init__(self) -> None:
        check_name(self.name, "the name of a database")
        check_word(self.charset, "a character set")
        check_word(self.collation, "a collation")


@dataclass(frozen=True)
class PreparedTransaction:
    """An XA transaction that is prepared at the snapshot's position, neither committed nor rolled back, and the event
    group with its rows. They are not in the snapshot; an XA COMMIT may follow."""

    xid: str
    file: str
    start: int
    end: int
    gtid: str | None


@dataclass(frozen=True)
class LeftOutEntry:
    """Event groups up to the position that a replay has excluded, with the number of their rows events (AP-SKIP).
    `gtids` are those that were excluded by GTID, as GtidChoice takes them; the others are from servers in
    `ignore_server_ids`, or, if `server_ids` is not empty, not in it."""

    groups: Count
    row_events: Count
    gtids: str = ""
    server_ids: tuple[ServerId, ...] = ()
    ignore_server_ids: tuple[ServerId, ...] = ()

    def __post_init__(self) -> None:
        if self.gtids:
            GtidChoice(self.gtids)

    def __str__(self) -> str:
        chosen = [f"{option} {shortened(value)}" for option, value in (
            ("--exclude-gtids", self.gtids), ("--server-ids", ",".join(map(str, self.server_ids))),
            ("--ignore-server-ids", ",".join(map(str, self.ignore_server_ids)))) if value]
        return (f"{self.groups:,} transaction{'s' * (self.groups != 1)} with {self.row_events:,} rows "
                f"event{'s' * (self.row_events != 1)} ({'; '.join(chosen)})")


@dataclass(frozen=True)
class Source:
    """The inputs of a replay: the names of its binlogs, the options that decide the result, and the base's URI."""

    binlogs: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    base: str | None = None


@dataclass(frozen=True)
class Snapshot:
    """A manifest. `uri` is its location, "" until it is published. `last_column_id` is the last number that was given
    to a column of its tables, or of dropped ones. `lower_case_table_names` is the server's variable, None if unknown.
    Snapshots with the same `lineage` share these numbers: a snapshot without a base, and all snapshots that descend
    from it; "" if an older version wrote it. `lake` is the id of the lake whose version this is, or None; `merges`: the
    lake merges on read."""

    position: BinlogPosition
    tables: tuple[TableEntry, ...]
    source: Source = Source()
    created_by: str = f"applier {__version__}"
    databases: tuple[DatabaseEntry, ...] = ()
    sequences: tuple[tuple[str, str], ...] = ()
    objects: tuple[StoredObject, ...] = ()
    prepared: tuple[PreparedTransaction, ...] = ()
    left_out: tuple[LeftOutEntry, ...] = ()
    others: tuple[OtherFile, ...] = ()
    last_column_id: int = field(default=0, compare=False)
    lower_case_table_names: int | None = None
    lineage: str = field(default="", compare=False)
    uri: str = field(default="", compare=False)
    lake: str | None = field(default=None, compare=False)
    merges: bool = field(default=False, compare=False)

    @property
    def root(self) -> str:
        """The folder to which the paths of its files are relative: its own, or the lake's."""
        return self.uri if self.lake is None else folder_of(folder_of(self.uri))

    def table(self, database: str, name: str) -> TableEntry | None:
        """Return the table of this exact name; None if there is none."""
        return self._by_name.get((database, name))

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], TableEntry]:
        return {(table.database, table.name): table for table in self.tables}

    def to_json(self) -> bytes:
        """Return the manifest's text."""
        import orjson

        document = {
            "format_version": MERGING_VERSION if self.merges else FORMAT_VERSION,
            "created_by": self.created_by,
            "position": self.position,
            "source": self.source,
            "databases": list(self.databases),
            "sequences": list(self.sequences),
            "objects": list(self.objects),
            "prepared": list(self.prepared),
            "left_out": list(self.left_out),
            "last_column_id": self.last_column_id,
            "lower_case_table_names": self.lower_case_table_names,
            "lineage": self.lineage,
            **({} if self.lake is None else {"lake": self.lake}),
            "tables": [table.to_json() for table in self.tables],
            "others": list(self.others),
        }
        document["digest"] = _own_digest(document)
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def new_lineage() -> str:
    """Return a new lineage, for a snapshot without a base that has one."""
    return uuid.uuid4().hex


def load(uri: str) -> Snapshot:
    """Load the manifest of a published snapshot, or of the latest version of a lake. Raises SnapshotError if there is
    none, or it cannot be read."""
    from pyarrow.fs import FileSelector, FileType

    uri = lakes.exact(uri)
    filesystem, path = location.resolve(uri)
    try:
        with filesystem.open_input_stream(f"{path}/{MANIFEST}", compression=None) as stream:
            text = stream.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        if (latest := lakes.latest_uri(uri)) is not None:
            return load(latest)
        if filesystem.get_file_info(path).type == FileType.NotFound:
            raise SnapshotError("not a complete snapshot: no such file or directory", file=uri,
                                hint="give the --output directory of a replay or an import") from error
        if filesystem.get_file_info(f"{path}/{SNAPSHOTS}").type == FileType.File:
            within = sorted(info.base_name for info in filesystem.get_file_info(FileSelector(path))
                            if info.type == FileType.Directory)
            shown = ", ".join(within[:_SHOWN]) + ", …" * (len(within) > _SHOWN)
            raise SnapshotError("this folder contains several snapshots", file=uri,
                                hint=f"give one of them: {shown}") from error
        raise SnapshotError(f"not a complete snapshot: it has no {MANIFEST}", file=uri,
                            hint="a replay writes that file last, so this one was interrupted") from error
    except OSError as error:
        raise SnapshotError(f"cannot read the snapshot: {reason(error)}", file=uri) from error
    try:
        return from_json(loads(text), uri)
    except (Mismatch, SchemaError, UsageError) as error:  # SchemaError, UsageError: a name or a word that no server has
        what = error if isinstance(error, Mismatch) else error.message
        raise SnapshotError(f"{MANIFEST} is damaged: {what}", file=uri, table=getattr(error, "table", None),
                            hint="replay or import it again, or restore its files from a backup") from error


@dataclass(frozen=True)
class _Document:
    """A manifest as JSON, field by field."""

    format_version: int
    created_by: str
    position: BinlogPosition
    source: Source
    databases: tuple[DatabaseEntry, ...]
    tables: tuple[TableDocument, ...]
    sequences: tuple[tuple[str, str], ...] = ()
    objects: tuple[StoredObject, ...] = ()
    prepared: tuple[PreparedTransaction, ...] = ()
    left_out: tuple[LeftOutEntry, ...] = ()
    others: tuple[OtherFile, ...] = ()
    last_column_id: Count = 0
    lower_case_table_names: Annotated[int, between(0, 2)] | None = None
    lineage: Lineage = ""
    lake: lakes.LakeId | None = None

    def complaint(self) -> str:
        """Return an inconsistency between fields; "" if there is none. The files of shards are not checked: each shard
        has a folder of its own."""
        lists = [files for table in self.tables for files in (table.files, table.history)]
        shards = [files for files in lists if isinstance(files, Shard)]
        if shards and self.format_version == _WITHOUT_SHARDS:
            return f"has shards, which format version {self.format_version} does not know"
        if self.format_version != MERGING_VERSION and any(table.merges for table in self.tables):
            return f"has files to merge, which format version {self.format_version} does not know"
        lists += [files for table in self.tables for files in (table.row_files, table.positions)]
        paths = [*(file.path for files in lists if not isinstance(files, Shard) for file in files),
                 *(file.path for file in self.others), *(shard.path for shard in shards)]
        folders = {shard.folder for shard in shards}
        if inside := [path for path in paths if folders and path.rpartition("/")[0] in folders]:
            return f"names a file in a shard's folder: {inside[0]!r}"
        for what, names in (("file", Counter(paths)), ("folder", Counter(shard.folder for shard in shards)),
                            ("table", Counter(f"{table.database}.{table.name}" for table in self.tables)),
                            ("column's id", self._column_ids())):
            if twice := [name for name, count in names.items() if count > 1]:
                return f"names a {what} twice: {twice[0]!r}"
        beyond = max(self._column_ids(), default=0)
        return f"has a column's id {beyond} after the last one" if beyond > self.last_column_id else ""

    def _column_ids(self) -> Counter[int]:
        return Counter(column.id for table in self.tables for column in table.definition.columns if column.id)


def from_json(document: Any, uri: str) -> Snapshot:
    """Return a manifest's snapshot, given its JSON and the URI that it was loaded from. Raises Mismatch, SchemaError
    and UsageError for a damaged manifest; SnapshotError for an unknown format version and for overlapping key ranges.
    """
    if isinstance(document, dict):
        version = document.get("format_version", FORMAT_VERSION)
        if type(version) is int and version not in _READ:
            raise SnapshotError(f"the snapshot has format version {version}, this version reads 1 to {_READ[-1]}",
                                hint="use the version that wrote it, or a newer one")
        digest = document.pop("digest", None)  # a manifest of an older program has none
        if digest is not None and digest != _own_digest(document):
            raise Mismatch("was changed after it was written: its digest does not match")
    read = build(_Document, document)
    snapshot = Snapshot(read.position, (), read.source, read.created_by, read.databases, read.sequences, read.objects,
                        read.prepared, read.left_out, read.others, lower_case_table_names=read.lower_case_table_names,
                        lineage=read.lineage, uri=uri, lake=read.lake,
                        merges=read.format_version == MERGING_VERSION)
    last, tables = read.last_column_id, list[TableEntry]()
    for found in read.tables:
        definition, last = numbered(found.definition, last)  # an older program's have no ids
        tables.append(replace(found, definition=definition).entry(snapshot.root))
    for table in tables:
        if not isinstance(table.files, ShardedFiles):
            table.check_ranges()
    return replace(snapshot, tables=tuple(tables), last_column_id=last)


def _own_digest(document: dict[str, Any]) -> str:
    import orjson

    return own_digest(orjson.dumps(document))
