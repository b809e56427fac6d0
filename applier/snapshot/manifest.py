"""The manifest of a snapshot: at which binlog position it stands, and which files hold which keys of which table.

    _snapshot.json
      format_version  1
      created_by      program and version
      position        {file, offset, gtid_set, timestamp, flavour, group_id: number or null, tail: digest or null}
      source          {binlogs: [name, …], options: {…}, base: uri or null}
      databases       [{name, charset, collation}, …]    what a table made later inherits
      sequences       [[database, name], …]    MariaDB's, whose numbers the log has as rows, and a snapshot has not
      prepared        [{xid, file, start, end, gtid}, …]    XA transactions that are neither committed nor rolled back
      tables          [{database, name, definition, key: [column, …], key_kind: "int" | "bytes" | null,
                        key_rules: [rule, …], files: [{path, rows, bytes, min_key, max_key, digest}, …],
                        history: [file, …]}, …]    of a system-versioned table: all its rows, also those of the past
      others          [{path, bytes, digest}, …]    the files beside the tables': definitions, report, conflicts
      digest          of the manifest itself: of all before it, as compact JSON

A snapshot is complete if its manifest is there, and only files that it names count. Digests are texts that begin with
the name of their hash (applier.snapshot.digest); snapshots of older programs have none. A manifest is taken for what it
is only if every field has its type and bounds (applier.io.typed_json), and its digest is right.

A table's files hold one sorted key range each, in ascending order; min_key and max_key are of the first and last row,
as numbers where the kind is "int", else as hex of the key's bytes (keysearch.keybytes has both encodings). The rules
say by which collations the bytes are made and of which prefixes (keysearch.keyrules); there are none where every column
is compared as a whole and byte for byte. A table without a usable key has no kind and no ranges.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from applier import __version__
from applier.binlog.archive.log_names import check_gtids, check_log_name
from applier.errors import SchemaError, SnapshotError, UsageError, reason
from applier.io.typed_json import Count, Mismatch, Seconds, between, build, loads
from applier.schema.allowed import check_name, check_word
from applier.schema.definition import TableDefinition
from applier.snapshot import location

MANIFEST = "_snapshot.json"
FORMAT_VERSION = 1

_OWN_HASH = "blake2b-128"
"""The hash of the manifest itself, which is read where no kernel should be loaded."""
UNKNOWN = "unknown"
"""The flavour of a dump that does not name its server: its definitions are read as MySQL's until a log decides."""

KeyKind = Literal["int", "bytes"]
KeyValue = Annotated[int, between(-2**63, 2**63 - 1)] | bytes
FilePath = Annotated[str, lambda path: "" if location.is_plain_inside(path) else f"is a path outside of it: {path!r}"]
Digest = Annotated[str, lambda digest: "" if 0 < len(digest) <= 200 and digest.isascii() and digest.isprintable() else
                   "is no digest"]
KeyRule = Annotated[str, lambda rule: "" if re.fullmatch(r"[0-9A-Za-z_]*(\([1-9][0-9]{0,9}\))?", rule) else
                    "is no collation with a number of characters"]

Flavour = Annotated[str, lambda name: "" if name in ("mysql", "mariadb", UNKNOWN) else
                    f"is {name!r}, not one of mysql, mariadb, {UNKNOWN}"]


@dataclass(frozen=True)
class BinlogPosition:
    """The position up to which the log is applied: the end of an event group.

    `file` is "" if it is not known, as in an imported dump that does not say it. `timestamp` is that group's, in
    seconds since 1970 UTC, or None before the first group or if it is not known; `gtid_set` is everything executed, in
    the flavour's notation, "" without GTIDs; `group_id` is the last group's, None if headers have none (GRP-3);
    `flavour` is the server's, UNKNOWN for a dump that does not say it. `tail` is the digest of the log's last 64 KB
    before the position, by which a later replay knows the file; None if it is not known.
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
        return f"{self.file}:{self.offset}" if self.file else "no binlog position"


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


@dataclass(frozen=True)
class OtherFile:
    """A file of the snapshot that belongs to no table; fields as in FileEntry."""

    path: FilePath
    bytes: Count
    digest: Digest


@dataclass(frozen=True)
class TableEntry:
    """One table. `definition` is TableDefinition's own JSON form; `key` names the columns that its files are sorted by,
    by `key_rules` (keysearch.keyrules). `files` are what readers see; for a system-versioned table, `history` are the
    files with all its rows, past ones included, and all columns."""

    database: str
    name: str
    definition: dict[str, Any]
    key: tuple[str, ...] = ()
    key_kind: KeyKind | None = None
    files: tuple[FileEntry, ...] = ()
    key_rules: tuple[KeyRule, ...] = ()
    history: tuple[FileEntry, ...] = ()

    @property
    def full_name(self) -> str:
        """ "db.table", as errors name it."""
        return f"{self.database}.{self.name}"

    @property
    def all_files(self) -> tuple[FileEntry, ...]:
        """All its files: those for readers and those of the history."""
        return self.files + self.history

    @property
    def rows(self) -> int:
        """Rows in all files."""
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.bytes for file in self.files)

    def complaint(self) -> str:
        """What is wrong with the entry; "" if nothing is."""
        if (self.key_kind is None) != (not self.key) or len(self.key_rules) not in (0, len(self.key)):
            return f"has a key of {len(self.key)} columns, {len(self.key_rules)} rules and kind {self.key_kind}"
        kind = {"int": int, "bytes": bytes, None: type(None)}[self.key_kind]
        kinds = {type(file.min_key) for file in self.files} | {type(file.max_key) for file in self.files}
        of_history = {type(file.min_key) for file in self.history} | {type(file.max_key) for file in self.history}
        if not kinds <= {kind, type(None)} or not any(of_history <= {kind, type(None)} for kind in (int, bytes)):
            return "has key ranges of another kind than its key"
        for files in (self.files, self.history):  # which a snapshot that carries them over has in one folder
            names = Counter(file.path.rpartition("/")[2] for file in files)
            if twice := [name for name, count in names.items() if count > 1]:
                return f"has two files with the name {twice[0]!r}"
        try:
            shown = TableDefinition.from_json(self.definition).shown
        except Mismatch as error:
            raise error.within("definition") from None
        if (shown.database, shown.name) != (self.database, self.name):
            return f"has the definition of {shown.full_name!r}"
        stored = {column.name for column in shown.stored_columns}
        unknown = [name for name in self.key if name not in stored]
        return f"has a key of columns that it lacks: {unknown!r}" if unknown else ""

    def check_ranges(self) -> None:
        """Raise SnapshotError where a file's key range is missing, or does not come after the one before it."""
        last: KeyValue | None = None
        for file in self.files:
            if self.key_kind is None or not file.rows:
                continue
            if file.min_key is None or file.max_key is None or _is_above(file.min_key, file.max_key) \
                    or (last is not None and not _is_above(file.min_key, last)):
                raise SnapshotError(f"the key range of {file.path} is missing, or overlaps with the file before it",
                                    table=self.full_name)
            last = file.max_key


@dataclass(frozen=True)
class DatabaseEntry:
    """A database's default character set and collation, which tables that are made in it later inherit."""

    name: str
    charset: str
    collation: str

    def __post_init__(self) -> None:
        check_name(self.name, "the name of a database")
        check_word(self.charset, "a character set")
        check_word(self.collation, "a collation")


@dataclass(frozen=True)
class PreparedTransaction:
    """An XA transaction that is prepared, and neither committed nor rolled back, at the snapshot's position, and the
    event group that has its rows: they are not in the snapshot, and an XA COMMIT may follow."""

    xid: str
    file: str
    start: int
    end: int
    gtid: str | None


@dataclass(frozen=True)
class Source:
    """What was replayed: names of binlogs, the options that decide the outcome, the base's URI."""

    binlogs: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    base: str | None = None


@dataclass(frozen=True)
class Snapshot:
    """A manifest. `uri` is where it was loaded from, "" while it is not published."""

    position: BinlogPosition
    tables: tuple[TableEntry, ...]
    source: Source = Source()
    created_by: str = f"applier {__version__}"
    format_version: int = FORMAT_VERSION
    databases: tuple[DatabaseEntry, ...] = ()
    sequences: tuple[tuple[str, str], ...] = ()
    prepared: tuple[PreparedTransaction, ...] = ()
    others: tuple[OtherFile, ...] = ()
    uri: str = field(default="", compare=False)

    def table(self, database: str, name: str) -> TableEntry | None:
        """The table of this exact name; None if there is none."""
        return next((table for table in self.tables if (table.database, table.name) == (database, name)), None)

    def to_json(self) -> bytes:
        """The manifest's text."""
        import orjson

        document = {
            "format_version": self.format_version,
            "created_by": self.created_by,
            "position": self.position,
            "source": self.source,
            "databases": list(self.databases),
            "sequences": list(self.sequences),
            "prepared": list(self.prepared),
            "tables": [_table_to_json(table) for table in self.tables],
            "others": list(self.others),
        }
        document["digest"] = _own_digest(document)
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def load(uri: str) -> Snapshot:
    """Load the manifest of a published snapshot. Raises SnapshotError if there is none, or it cannot be read."""
    from pyarrow.fs import FileType

    filesystem, path = location.resolve(uri)
    try:
        with filesystem.open_input_stream(f"{path}/{MANIFEST}", compression=None) as stream:
            text = stream.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        if filesystem.get_file_info(path).type == FileType.NotFound:
            raise SnapshotError("not a complete snapshot: nothing is there", file=uri,
                                hint="give the directory that was a replay's or an import's --output") from error
        raise SnapshotError(f"not a complete snapshot: it has no {MANIFEST}", file=uri,
                            hint="a replay writes that file last, so one that was stopped left this") from error
    except OSError as error:
        raise SnapshotError(f"cannot read the snapshot: {reason(error)}", file=uri) from error
    try:
        return replace(_from_json(loads(text)), uri=uri)
    except (Mismatch, SchemaError, UsageError) as error:  # SchemaError, UsageError: a name or a word that no server has
        what = error if isinstance(error, Mismatch) else error.message
        raise SnapshotError(f"{MANIFEST} is damaged: {what}", file=uri, table=getattr(error, "table", None),
                            hint="replay or import it anew, or take its files from a backup") from error


@dataclass(frozen=True)
class _Document:
    """A manifest as JSON, field by field."""

    format_version: int
    created_by: str
    position: BinlogPosition
    source: Source
    databases: tuple[DatabaseEntry, ...]
    tables: tuple[TableEntry, ...]
    sequences: tuple[tuple[str, str], ...] = ()
    prepared: tuple[PreparedTransaction, ...] = ()
    others: tuple[OtherFile, ...] = ()

    def complaint(self) -> str:
        """What is wrong between fields; "" if nothing is."""
        for what, names in (("file", Counter([*(file.path for table in self.tables for file in table.all_files),
                                              *(file.path for file in self.others)])),
                            ("table", Counter(table.full_name for table in self.tables))):
            if twice := [name for name, count in names.items() if count > 1]:
                return f"names a {what} twice: {twice[0]!r}"
        return ""


def _from_json(document: Any) -> Snapshot:
    """Raises Mismatch, and SnapshotError for another version's manifest and for key ranges that overlap."""
    if isinstance(document, dict):
        version = document.get("format_version", FORMAT_VERSION)
        if type(version) is int and version != FORMAT_VERSION:
            raise SnapshotError(f"the snapshot has format version {version}, this program reads {FORMAT_VERSION}",
                                hint="use the program's version that wrote it, or a newer one")
        digest = document.pop("digest", None)  # a manifest of an older program has none
        if digest is not None and digest != _own_digest(document):
            raise Mismatch("was changed after it was written: its digest is another one")
    read = build(_Document, document)
    for table in read.tables:
        table.check_ranges()
    return Snapshot(read.position, read.tables, read.source, read.created_by, read.format_version, read.databases,
                    read.sequences, read.prepared, read.others)


def _own_digest(document: dict[str, Any]) -> str:
    import orjson

    return f"{_OWN_HASH}:{hashlib.blake2b(orjson.dumps(document), digest_size=16).hexdigest()}"


def _table_to_json(table: TableEntry) -> dict[str, Any]:
    entry = {"database": table.database, "name": table.name, "definition": table.definition, "key": table.key,
             "key_kind": table.key_kind, "key_rules": table.key_rules, "files": _files_to_json(table.files)}
    return entry | {"history": _files_to_json(table.history)} if table.history else entry


def _files_to_json(files: Iterable[FileEntry]) -> list[dict[str, Any]]:
    return [{"path": file.path, "rows": file.rows, "bytes": file.bytes, "min_key": _key_to_json(file.min_key),
             "max_key": _key_to_json(file.max_key)} | ({"digest": file.digest} if file.digest else {})
            for file in files]


def _is_above(key: KeyValue, other: KeyValue) -> bool:
    """Whether a key comes after another one of its kind."""
    if isinstance(key, bytes):
        return isinstance(other, bytes) and key > other
    return isinstance(other, int) and key > other


def _key_to_json(key: KeyValue | None) -> int | str | None:
    return key.hex() if isinstance(key, bytes) else key
