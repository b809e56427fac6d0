"""Finds the parts of a dump: one SQL file, stdin, or a directory of mysqldump, mydumper, MySQL Shell or `applier
export`.

    mydumper       metadata; DB-schema-create.sql, DB.TABLE-schema.sql, DB.TABLE.NNNNN.sql (INSERTs, or LOAD DATA for a
                   .dat file beside it); each may be .gz or .zst
    MySQL Shell    @.json; DB.json, DB.sql, DB@TABLE.json, DB@TABLE.sql, DB@TABLE@N.tsv.zst (the last one @@N)
    mysqldump      TABLE.sql and TABLE.txt (--tab), or DB/TABLE.sql and DB/TABLE.txt (mariadb-dump --dir)
    applier        _schema.sql; _load.sql, or DB/TABLE/NNNN.sql
    Parquet        DB/TABLE/….parquet or DB.TABLE.parquet, with a schema file

Sources: mydumper's documentation ("mydumper usage", "Output Files"), MySQL Shell's ("Instance Dump Utility") and its
dumper's source, modules/util/dump/dumper.cc.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote

from pyarrow import fs

from applier.binlog.events.gtid import GtidSet
from applier.errors import NO_DATABASE, SchemaError, UsageError, reason
from applier.io.resolver import below, check_regular, files_below, resolve
from applier.jobs.importing.dump_flavour import flavour_of_gtids, flavour_of_version
from applier.jobs.importing.parquet_file import ParquetPart
from applier.jobs.importing.position import DumpPosition, of_metadata
from applier.jobs.importing.sql.dump_text import STDIN, read_head
from applier.jobs.importing.sql.load_data import DECODERS, Lines, RowsFile
from applier.options import ImportOptions
from applier.schema.dump_header import database_of_header
from applier.snapshot.manifest import MANIFEST

_Kind = TypeVar("_Kind")

HEAD_BYTES = 4 << 20
"""How many bytes of a dump's first file are searched for its flavour."""
_NOWHERE = DumpPosition()
_UTC = "+00:00"
_SUFFIX = re.compile(r"\.(?:gz|zst)$")
_CREATE = re.compile(r"CREATE\s+(?:DATABASE|SCHEMA)\s+(?>(?:/\*.*?\*/\s*|IF\s+NOT\s+EXISTS\s+)*)`((?:[^`]|``)+)`", re.I)
_TAB_SQL = re.compile(r"\.sql(\.gz|\.zst|)$")
_SET_NAMES = re.compile(r"SET NAMES (\w+)")
_IN_UTC = f"SET TIME_ZONE='{_UTC}'"
_OF_MYDUMPER = re.compile(r"(?P<database>[^.]+)\.(?P<table>.+?)(?P<chunk>(?:\.\d+)*)\.sql")
_ANY_NAME = re.compile(r"mydumper_\d+")
"""In place of a name that is not possible for a file, or has a dot. A database's own name is in its definition."""
_NO_TABLES = ("-schema-view.sql", "-schema-post.sql", "-schema-triggers.sql", "-schema-sequence.sql",
              "-schema-tablespace.sql")


@dataclass(frozen=True)
class SqlPart:
    """An SQL file, the default database of its first statements, and its time zone if the dump's form names it;
    `has_definitions`: of databases or tables, and few rows; `head` has the bytes of stdin that were read already."""

    uri: str
    database: str | None = None
    time_zone: str | None = None
    has_definitions: bool = False
    head: bytes = b""


@dataclass(frozen=True)
class Dump:
    """The parts of a dump in reading order, and the facts about it as a whole; `flavour` is None if only the parts show
    it."""

    parts: tuple[SqlPart | RowsFile | ParquetPart, ...]
    position: DumpPosition = _NOWHERE
    flavour: str | None = None


def open_dump(options: ImportOptions) -> Dump:
    """Find the files to read. Raises UsageError if it is not a known kind of dump, or not a complete one."""
    uri, schema = options.dump, options.schema
    if uri == STDIN:
        return Dump((SqlPart(STDIN, head=read_head(HEAD_BYTES)),))
    filesystem, path = resolve(uri)
    if filesystem.get_file_info(path).type != fs.FileType.Directory:
        if schema is not None:
            raise UsageError("--schema goes with a directory of Parquet files", file=uri)
        return Dump((SqlPart(uri),))
    names = files_below(uri)
    folder = _Folder(uri, frozenset(names))
    if schema is not None:
        return _of_parquet(folder, schema)
    if MANIFEST in folder.names:
        raise UsageError("this is already a snapshot", file=uri, hint="give it directly to replay --base")
    if "@.json" in folder.names:
        return _of_shell(folder)
    if "metadata" in folder.names or "metadata.partial" in folder.names:
        return _of_mydumper(folder)
    if "_schema.sql" in folder.names:
        statements = [name for name in names if name.endswith(".sql") and name != "_schema.sql"]
        rows = ["_load.sql"] if "_load.sql" in folder.names else statements
        return Dump(tuple(SqlPart(folder.uri(name)) for name in ["_schema.sql", *rows]))
    if any(_rows_beside(name) in folder.names for name in names):
        return _of_tabs(folder, options)
    raise UsageError("this directory is not a dump", file=uri, hint="it may be one of `mysqldump --tab` or "
                     "`mariadb-dump --dir` (TABLE.sql and TABLE.txt), of mydumper (metadata), of MySQL Shell (@.json) "
                     "or of `applier export` (_schema.sql), or hold Parquet files with --schema")


@dataclass(frozen=True)
class _Folder:
    """A directory and the files in it, by their paths in it. Nothing else is read, whatever a file of the dump, or a
    link, names."""

    root: str
    names: frozenset[str]

    def uri(self, name: str) -> str:
        """Return the location of a file of the dump. Raises UsageError if it does not exist, or is elsewhere."""
        if name not in self.names:
            raise UsageError(f"a file of the dump cannot be read: {name} is missing", file=self.root)
        return below(self.root, name)

    def text(self, name: str) -> str:
        """Raises UsageError where there is none that can be read."""
        check_regular(self.uri(name))
        filesystem, path = resolve(self.uri(name))
        try:
            with filesystem.open_input_stream(path, compression="detect") as stream:
                text: str = stream.read().decode("utf-8", "surrogateescape")
                return text
        except OSError as error:
            raise UsageError(f"a file of the dump cannot be read: {reason(error)}", file=self.uri(name)) from error

    def json(self, name: str) -> _About:
        """Raises UsageError where there is none that can be read."""
        try:
            return _About(json.loads(self.text(name)), self.uri(name))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"a file of the dump is not JSON: {error}", file=self.uri(name)) from error


class _About:
    """A JSON object from a file of the dump. Raises UsageError, naming the file, if it is not an object, or has a value
    of another type than requested."""

    def __init__(self, value: Any, uri: str) -> None:
        if not isinstance(value, dict):
            raise UsageError("a file of the dump is not a JSON object where one was expected", file=uri)
        self._value, self._uri = value, uri

    def text(self, name: str, default: str = "") -> str:
        return self._of(str, name, default)

    def number(self, name: str) -> int:
        return self._of(int, name, 0)

    def flag(self, name: str, default: bool) -> bool:
        return self._of(bool, name, default)

    def inner(self, name: str) -> _About:
        return _About(self._of(dict, name, {}), self._uri)

    def texts(self, name: str, *, required: bool = True) -> list[str]:
        return self._all_texts(name, self._of(list, name, None if required else []))

    def names(self, name: str) -> dict[str, str]:
        """Return an object whose values are text."""
        found = self._of(dict, name, {})
        self._all_texts(name, found.values())
        return {str(key): value for key, value in found.items()}

    def _all_texts(self, name: str, values: Iterable[Any]) -> list[str]:
        if not all(isinstance(value, str) for value in values):
            raise UsageError(f'"{name}" of a file of the dump has values that are not text', file=self._uri)
        return list(values)

    def _of(self, kind: type[_Kind], name: str, default: _Kind | None) -> _Kind:
        value = self._value.get(name)
        found: _Kind | None = default if value is None else value
        if found is None or type(found) is not kind:
            raise UsageError(f'"{name}" of a file of the dump is not of type {kind.__name__}', file=self._uri)
        return found


def _of_parquet(folder: _Folder, schema: str) -> Dump:
    parts = []
    for name in sorted(folder.names):
        *folders, last = name.split("/")
        if not last.endswith(".parquet") or name.startswith("_"):
            continue
        database, _, table = last.removesuffix(".parquet").partition(".")
        if len(folders) == 2:
            database, table = map(unquote, folders)
        if len(folders) not in (0, 2) or not table:
            raise UsageError(f"the name of {name} does not say which table it belongs to", file=folder.root,
                             hint="name files DB/TABLE/….parquet or DB.TABLE.parquet")
        parts.append(ParquetPart(folder.uri(name), database, table))
    if not parts:
        raise UsageError("the directory contains no Parquet files", file=folder.root)
    return Dump((SqlPart(schema, time_zone=_UTC), *parts))


def _rows_beside(name: str) -> str | None:
    """Return the name of the file of rows beside a file with a table's definition."""
    return _TAB_SQL.sub(r".txt\1", name) if _TAB_SQL.search(name) else None


def _of_tabs(folder: _Folder, options: ImportOptions) -> Dump:
    """SELECT … INTO OUTFILE of all columns. It is in the character set that --default-character-set gave to mysqldump;
    without that, in each column's own."""
    definitions, rows = list[SqlPart](), list[RowsFile]()
    for name in sorted(filter(_TAB_SQL.search, folder.names)):
        *folders, last = name.split("/")
        text = folder.text(name)
        database = folders[-1] if folders else database_of_header(text) or options.database
        definitions.append(SqlPart(folder.uri(name), database))
        if (beside := _rows_beside(name)) not in folder.names:
            continue  # a view's
        if database is None:
            raise SchemaError("there is no default database", file=folder.uri(name), errno=NO_DATABASE,
                              hint="name the database of the dump with --database")
        said = _SET_NAMES.search(text)
        charset = options.default_character_set or (said[1] if said and said[1] != "utf8mb4" else "binary")
        rows.append(RowsFile(folder.uri(str(beside)), database, _TAB_SQL.sub("", last), None, Lines(), charset,
                             time_zone=_UTC if _IN_UTC in text else None, is_whole=True))
    return Dump((*definitions, *rows))


def _of_mydumper(folder: _Folder) -> Dump:
    if "metadata" not in folder.names:
        raise UsageError("the dump is not complete: mydumper has not finished its metadata", file=folder.root)
    plain = {_SUFFIX.sub("", name): name for name in sorted(folder.names)}
    databases: dict[str, str | None] = {}
    first, definitions, rows = list[SqlPart](), list[SqlPart](), []
    for name, stored in plain.items():
        if name.endswith("-schema-create.sql"):
            made = _CREATE.search(folder.text(stored))
            prefix = name.removesuffix("-schema-create.sql")
            databases[prefix] = made[1].replace("``", "`") if made else prefix
            first.append(SqlPart(folder.uri(stored), has_definitions=True))
    for name, stored in plain.items():
        match = _OF_MYDUMPER.fullmatch(name)
        defines = name.endswith("-schema.sql")
        is_view = defines and f"{name.removesuffix('.sql')}-view.sql" in plain  # a view; the file defines a placeholder
        if match is None or name.endswith(_NO_TABLES) or is_view:
            continue
        prefix = match["database"]
        database = databases.setdefault(prefix, None if _ANY_NAME.fullmatch(prefix) else prefix)
        part = SqlPart(folder.uri(stored), database, has_definitions=defines)
        if defines:
            definitions.append(part)
        else:
            chunk = tuple(map(int, match["chunk"].split(".")[1:]))
            rows.append(((match["database"], match["table"], chunk), part))
    unknown = [prefix for prefix, name in databases.items() if name is None]
    if len(unknown) > 1:
        raise UsageError(f"the dump does not say which databases {unknown[0]} and {unknown[1]} are", file=folder.root,
                         hint="dump them with their definitions, which are in …-schema-create.sql")
    position = of_metadata(folder.text("metadata"))
    return Dump((*first, *definitions, *(part for _, part in sorted(rows, key=lambda pair: pair[0]))), position,
                flavour_of_gtids(position.gtid_set))


def _of_shell(folder: _Folder) -> Dump:
    about = folder.json("@.json")
    if "@.done.json" not in folder.names:
        raise UsageError("the dump is not complete: it has no @.done.json", file=folder.root,
                         hint="MySQL Shell writes that file last")
    if not about.flag("tzUtc", True):
        raise UsageError("the dump does not name the time zone of its TIMESTAMPs", file=folder.root,
                         hint="dump with tzUtc: true, which is the default")
    source = about.inner("source")
    log = source.inner("binlog")
    server = about.text("serverVersion") or source.inner("sysvars").text("version")
    gtids = "".join((log.text("gtidExecuted") or about.text("gtidExecuted")).split())
    position = DumpPosition(log.text("file") or about.text("binlogFile"),
                            log.number("position") or about.number("binlogPosition"), str(GtidSet.parse(gtids)))
    schemas: list[SqlPart] = []
    tables: list[SqlPart] = []
    rows: list[RowsFile] = []
    for schema in about.texts("schemas"):
        base = about.names("basenames").get(schema, schema)
        of_schema = folder.json(f"{base}.json")
        if f"{base}.sql" in folder.names:
            schemas.append(SqlPart(folder.uri(f"{base}.sql"), schema, _UTC))
        for table in of_schema.texts("tables", required=False):
            name = of_schema.names("basenames").get(table, f"{base}@{table}")
            tables.append(SqlPart(folder.uri(f"{name}.sql"), schema, _UTC))
            rows += _rows_of_shell(folder, folder.json(f"{name}.json"), name, schema, table)
    return Dump((*schemas, *tables, *rows), position, flavour_of_version(server))


def _rows_of_shell(folder: _Folder, about: _About, name: str, schema: str, table: str) -> Iterator[RowsFile]:
    """Yield the files of a table's rows, grouped by partition."""
    if not about.flag("includesData", True):
        return
    options = about.inner("options")
    lines = Lines(options.text("fieldsTerminatedBy", "\t"), options.text("fieldsEnclosedBy", ""),
                  options.text("fieldsEscapedBy", "\\"), options.text("linesTerminatedBy", "\n"))
    unknown = set(options.names("decodeColumns").values()).difference(DECODERS)
    if unknown:
        raise UsageError(f"{sorted(unknown)[0]} is an unknown decoding of columns",
                         file=folder.uri(f"{name}.json"))
    coded = {column: DECODERS[how] for column, how in options.names("decodeColumns").items()}
    columns, charset = tuple(options.texts("columns")), options.text("defaultCharacterSet", "utf8mb4")
    extension = about.text("extension", "tsv.zst")
    for base in about.names("basenames").values() or [name]:
        of_base = re.compile(re.escape(base) + r"(?:@(?P<last>@?)(?P<chunk>\d+))?\." + re.escape(extension))
        chunks = sorted((int(match["chunk"] or 0), bool(match["last"]), stored) for stored in folder.names
                        if (match := of_base.fullmatch(stored)))
        last = [chunk[1] for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
        if (about.flag("chunking", False) and not last) or [chunk[0] for chunk in chunks] != list(range(len(chunks))):
            raise UsageError("a file of a table's rows is missing", file=folder.root, table=f"{schema}.{table}")
        for _, _, stored in chunks:
            yield RowsFile(folder.uri(stored), schema, table, columns, lines, charset, coded)
