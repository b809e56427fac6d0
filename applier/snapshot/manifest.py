"""The manifest of a snapshot: at which binlog position it stands, and which files hold which keys of which table.

    _snapshot.json
      format_version  1
      created_by      program and version
      position        {file, offset, gtid_set, timestamp, flavour, group_id: number or null}
      source          {binlogs: [name, …], options: {…}, base: uri or null}
      databases       [{name, charset, collation}, …]    what a table made later inherits
      sequences       [[database, name], …]    MariaDB's, whose numbers the log has as rows, and a snapshot has not
      prepared        [{xid, file, start, end, gtid}, …]    XA transactions that are neither committed nor rolled back
      tables          [{database, name, definition, key: [column, …], key_kind: "int" | "bytes" | null,
                        key_rules: [rule, …], files: [{path, rows, bytes, min_key, max_key}, …],
                        history: [file, …]}, …]    of a system-versioned table: all its rows, also those of the past

A snapshot is complete if its manifest is there, and only files that it names count. A table's files hold one sorted key
range each, in ascending order; min_key and max_key are of the first and last row, as numbers where the kind is "int",
else as hex of the key's bytes (keysearch.keybytes has both encodings). The rules say by which collations the bytes are
made and of which prefixes (keysearch.keyrules); there are none where every column is compared as a whole and byte for
byte. A table without a usable key has no kind and no ranges.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from applier import __version__
from applier.binlog.log_names import check_gtids, check_log_name
from applier.errors import SchemaError, SnapshotError, UsageError, reason
from applier.schema.allowed import check_name, check_word
from applier.snapshot import location

MANIFEST = "_snapshot.json"
FORMAT_VERSION = 1

KeyKind = Literal["int", "bytes"]
KeyValue = int | bytes


@dataclass(frozen=True)
class BinlogPosition:
    """Up to where the log is applied: the end of an event group. `file` is "" where that is not known, as of an
    imported dump that does not say it. `timestamp` is that group's, in seconds since 1970 UTC, or None before the first
    or where it is not known; `gtid_set` is all that has been executed, in the flavour's notation, "" without GTIDs;
    `group_id` the last group's, None where headers have none (GRP-3)."""

    file: str
    offset: int
    gtid_set: str
    timestamp: int | None
    flavour: Literal["mysql", "mariadb"]
    group_id: int | None = None

    def __post_init__(self) -> None:
        check_log_name(self.file)
        check_gtids(self.gtid_set)
        if type(self.offset) is not int:
            raise UsageError(f"{self.offset!r} is no offset in a binlog")

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}" if self.file else "no binlog position"


@dataclass(frozen=True)
class FileEntry:
    """One Parquet file: `path` relative to the snapshot with "/", `bytes` its size, keys None where the table has
    none."""

    path: str
    rows: int
    bytes: int
    min_key: KeyValue | None = None
    max_key: KeyValue | None = None


@dataclass(frozen=True)
class TableEntry:
    """One table. `definition` is TableDefinition's own JSON form; `key` the columns that its files are sorted by,
    by `key_rules` (keysearch.keyrules). `files` are what readers see; of a system-versioned table, `history` are the
    files with all its rows, also those that hold no more, and all columns."""

    database: str
    name: str
    definition: dict[str, Any]
    key: tuple[str, ...] = ()
    key_kind: KeyKind | None = None
    files: tuple[FileEntry, ...] = ()
    key_rules: tuple[str, ...] = ()
    history: tuple[FileEntry, ...] = ()

    @property
    def full_name(self) -> str:
        """ "db.table", as errors name it."""
        return f"{self.database}.{self.name}"

    @property
    def all_files(self) -> tuple[FileEntry, ...]:
        """Those of readers and those of the history."""
        return self.files + self.history

    @property
    def rows(self) -> int:
        """Rows in all files."""
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.bytes for file in self.files)

    def check_ranges(self) -> None:
        """Raise SnapshotError where a file's key range is missing, or does not come after the one before it."""
        last: KeyValue | None = None
        for file in self.files:
            if self.key_kind is None or not file.rows:
                continue
            if file.min_key is None or file.max_key is None or file.min_key > file.max_key \
                    or (last is not None and file.min_key <= last):
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
    """An XA transaction that was prepared and is neither committed nor rolled back at the snapshot's position, and the
    event group of the log that has its rows: they are not in the snapshot, and an XA COMMIT may follow."""

    xid: str
    file: str
    start: int
    end: int
    gtid: str | None


@dataclass(frozen=True)
class Source:
    """What was replayed: names of binlogs, the options that decide the outcome, the base's uri."""

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
    uri: str = field(default="", compare=False)

    def table(self, database: str, name: str) -> TableEntry | None:
        """A table by its exact name, None if it is not in here."""
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
        }
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def load(uri: str) -> Snapshot:
    """The manifest of a published snapshot. Errors: SnapshotError where there is none, or none that can be read."""
    import orjson
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
        return replace(_from_json(orjson.loads(text)), uri=uri)
    except (SchemaError, UsageError) as error:  # a name or a word that no server has
        raise SnapshotError(f"{MANIFEST} is damaged: {error.message}", file=uri, table=error.table) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SnapshotError(f"{MANIFEST} is damaged ({type(error).__name__}: {error})", file=uri) from error


def _from_json(document: dict[str, Any]) -> Snapshot:
    version = document["format_version"]
    if version != FORMAT_VERSION:
        raise SnapshotError(f"the snapshot has format version {version}, this program reads {FORMAT_VERSION}",
                            hint="use the program's version that wrote it, or a newer one")
    source = document["source"]
    tables = tuple(_table_from_json(table) for table in document["tables"])
    position = BinlogPosition(**document["position"])
    return Snapshot(position, tables, Source(tuple(source["binlogs"]), source["options"], source["base"]),
                    document["created_by"], version,
                    tuple(DatabaseEntry(**database) for database in document["databases"]),
                    tuple((database, name) for database, name in document.get("sequences", ())),
                    tuple(PreparedTransaction(**entry) for entry in document.get("prepared", ())))


def _table_to_json(table: TableEntry) -> dict[str, Any]:
    entry = {"database": table.database, "name": table.name, "definition": table.definition, "key": table.key,
             "key_kind": table.key_kind, "key_rules": table.key_rules, "files": _files_to_json(table.files)}
    return entry | {"history": _files_to_json(table.history)} if table.history else entry


def _files_to_json(files: Iterable[FileEntry]) -> list[dict[str, Any]]:
    return [{"path": file.path, "rows": file.rows, "bytes": file.bytes,
             "min_key": _key_to_json(file.min_key), "max_key": _key_to_json(file.max_key)} for file in files]


def _table_from_json(table: dict[str, Any]) -> TableEntry:
    if table["key_kind"] not in ("int", "bytes", None):
        raise ValueError(f"key kind {table['key_kind']!r}")
    files = tuple(_files_from_json(table["files"]))
    entry = TableEntry(table["database"], table["name"], table["definition"], tuple(table["key"]), table["key_kind"],
                       files, tuple(table.get("key_rules", ())), tuple(_files_from_json(table.get("history", []))))
    entry.check_ranges()
    return entry


def _files_from_json(files: list[dict[str, Any]]) -> Iterable[FileEntry]:
    for file in files:
        if not location.is_inside(file["path"]):
            raise ValueError(f"a file outside of the snapshot: {file['path']}")
        yield FileEntry(file["path"], int(file["rows"]), int(file["bytes"]),
                        _key_from_json(file["min_key"]), _key_from_json(file["max_key"]))


def _key_to_json(key: KeyValue | None) -> int | str | None:
    return key.hex() if isinstance(key, bytes) else key


def _key_from_json(key: int | str | None) -> KeyValue | None:
    return bytes.fromhex(key) if isinstance(key, str) else key
