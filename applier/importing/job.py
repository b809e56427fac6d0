"""The job: a snapshot out of an SQL dump, read once from its beginning to its end.

    statements → session, schema history, position
    INSERTs    → spans → columns → sorted files
    publish    as a replay does
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterable, Iterator

import numpy as np

from applier import __version__
from applier.apply.rows import table_schema
from applier.errors import ApplierError, SchemaError, UsageError
from applier.importing import scan_kernel, tuple_kernel
from applier.importing.dump_text import DumpText
from applier.importing.inserts import HEAD_BYTES, InsertColumns, InsertHead, InsertSpans, new_spans, parse_head, refused
from applier.importing.position import DumpPosition
from applier.importing.session import DumpSession
from applier.importing.sorted_rows import SortedRows
from applier.importing.spans import OddLiteral
from applier.options import ImportOptions
from applier.progress import Progress, Silent
from applier.result import ReplayResult, TableResult
from applier.schema.definition import TableDefinition
from applier.schema.history import SchemaHistory
from applier.schema.schema_changes import AlterTable, Dml, RenameTables, SchemaChange, SessionChange, TableName
from applier.schema.schema_file import schema_file
from applier.schema.table_versions import BEFORE_THE_LOG
from applier.snapshot.manifest import DatabaseEntry, Snapshot, Source, TableEntry
from applier.snapshot.publish import Staging, begin

BATCH_VALUES = 1 << 20
_DELIMITER = re.compile(rb"DELIMITER[ \t]+(\S+)[^\n]*", re.IGNORECASE)
# Sets in which a byte of a longer character may look like a quote or a backslash.
_UNREADABLE = frozenset({"big5", "cp932", "gb18030", "gbk", "sjis"})
_MARIADB = re.compile(rb"^-- MariaDB dump|^/\*M!|^-- Server version\s.*MariaDB", re.MULTILINE)


def import_dump(options: ImportOptions, progress: Progress | None = None) -> ReplayResult:
    """Import a dump and publish a snapshot. Raises ApplierError, and publishes nothing then."""
    with begin(options.output) as staging, DumpText(options.dump) as text, \
            tempfile.TemporaryDirectory(prefix="applier-import-") as spill:
        return _Import(options, staging, text, spill, progress or Silent()).run()


class _Import:
    """One run: where it is in the dump, and what it has of it."""

    def __init__(self, options: ImportOptions, staging: Staging, text: DumpText, spill: str,
                 progress: Progress) -> None:
        self.options, self.staging, self.text, self.spill, self.progress = options, staging, text, spill, progress
        text.more()
        self.flavour = options.flavour or ("mariadb" if _MARIADB.search(text.text(min(text.end, 4096))) else "mysql")
        self.history = SchemaHistory(self.flavour, wanted=options.filter.wanted)
        self.session = DumpSession(self.flavour)
        self.position = DumpPosition()
        self.tables: dict[tuple[str, str], SortedRows] = {}
        self.zero_dates = 0
        self._delimiter = np.frombuffer(b";", np.uint8)
        self._spans: InsertSpans | None = None
        self._last: tuple[str, str] | None = None

    def run(self) -> ReplayResult:
        began = time.perf_counter()
        self.progress.phase("import", 0, "MB")
        while (start := self._statement_start()) is not None:
            self.position = self.position.after(_decoded(self.text.text(start)))
            self.text.at = start
            try:
                self._statement()
            except ApplierError as error:
                raise error.at(file=f"{self.options.dump}, line {self.text.line(self.text.at)}") from None
            self.progress.update(self.text.bytes_read >> 20, sum(rows.rows for rows in self.tables.values()))
        return self._publish(began)

    # ---- statements

    def _statement_start(self) -> int | None:
        """The place of the next statement, None at the dump's end."""
        text = self.text
        while (start := scan_kernel.statement_start(text.address, text.at, text.end)) < 0:
            if not text.more():
                self.position = self.position.after(_decoded(text.text(text.end)))
                return None
        return int(start)

    def _statement(self) -> None:
        text = self.text
        while text.end - text.at < HEAD_BYTES and text.more():
            pass
        start = text.text(min(text.end, text.at + HEAD_BYTES))
        if delimiter := _DELIMITER.match(start):
            self._delimiter = np.frombuffer(delimiter[1], np.uint8)
            text.at += delimiter.end()
        elif start[:1] in b"IiRr" and (head := parse_head(start)) is not None:
            self._insert(head)
        else:
            self._other(self._whole_statement())

    def _whole_statement(self) -> str:
        """The statement's text, which is passed over."""
        text, delimiter = self.text, self._delimiter
        while (end := scan_kernel.statement_end(text.address, text.at, text.end, delimiter.ctypes.data, len(delimiter),
                                                self.session.backslash)) < 0:
            if not text.more():
                if delimiter.tobytes() == b";":
                    raise UsageError("the dump ends within a statement", hint="is the file complete?")
                end = text.end - len(delimiter)  # the guard behind the dump's end is longer
                break
        sql = _decoded(text.text(end))
        text.at = int(end) + len(delimiter)
        return sql

    def _other(self, sql: str) -> None:
        """A statement that is no INSERT."""
        if not sql.strip():
            return
        self.position = self.position.after(sql)
        changes = self.history.load_statement(sql, database=self.session.database, sql_mode=self.session.sql_mode,
                                              time_zone=self.session.time_zone)
        if re.match(r"(?:/\*M?!\d*\s*)?SET\b", sql, re.IGNORECASE):
            self.session.set(sql)
        for change in changes:
            if isinstance(change, SessionChange) and change.database is not None:
                self.session.database = change.database
            elif isinstance(change, Dml):
                self._stop_at_dml(change)
        self._follow_definitions(changes)

    def _stop_at_dml(self, change: Dml) -> None:
        wanted = self.options.filter.wanted
        concerned = [table for table in change.tables or () if wanted(*table)]
        if concerned:
            raise SchemaError(f"a statement of the dump changes rows in a way that cannot be imported: "
                              f"{' '.join(change.sql.split())[:200]}", table=".".join(concerned[0]),
                              hint="only INSERT and REPLACE … VALUES can be; load it into a server and dump that")

    def _follow_definitions(self, changes: list[SchemaChange]) -> None:
        """Rows of tables that the changes drop or make anew are forgotten; those of an altered table are kept if its
        columns stay, as where keys come after the rows. Raises SchemaError where they do not."""
        altered = {table for change in changes for table in _altered(change)}
        for name, rows in list(self.tables.items()):
            version = self.history.at(*name, BEFORE_THE_LOG)
            if version is not None and version.definition == rows.definition:
                continue
            del self.tables[name]
            if name not in altered:
                rows.abort()
                continue
            if version is None or table_schema(version.definition) != table_schema(rows.definition):
                raise SchemaError("the dump changes a table's columns, or its name, after it has put rows into it",
                                  table=rows.definition.full_name,
                                  hint="load it into a server and dump that")
            anew = self._rows_of(version.definition)
            for block in rows.drain():
                anew.add(block)

    # ---- rows

    def _insert(self, head: InsertHead) -> None:
        database = head.database or self.session.database
        if database is None:
            raise SchemaError(f"there is no default database to look for table {head.table} in", errno=1046)
        self.text.at += len(head.text)
        wanted = self.options.filter.wanted(database, head.table)
        columns = self._columns(database, head) if wanted else None
        if wanted and self.session.reading.charset in _UNREADABLE:
            raise UsageError(f"the dump is written in {self.session.reading.charset}, which cannot be read",
                             hint="dump with --default-character-set=utf8mb4")
        header = np.frombuffer(head.text, np.uint8)
        out = np.zeros(2, np.int64)
        while True:
            code = self._parse(header, columns, out)
            if columns is not None and out[0]:
                self._add(columns, int(out[0]), head)
            self.text.at = int(out[1])
            if code == tuple_kernel.ENDED:
                return
            if code == tuple_kernel.NEEDS_MORE:
                if not self.text.more():
                    raise UsageError("the dump ends within an INSERT", hint="is the file complete?")
            elif code != tuple_kernel.FULL:
                raise refused(code, f"{database}.{head.table}", 0 if columns is None else len(columns))

    def _columns(self, database: str, head: InsertHead) -> InsertColumns:
        version = self.history.at(database, head.table, BEFORE_THE_LOG)
        if version is None:
            raise SchemaError("rows of a table that the dump does not make", table=f"{database}.{head.table}",
                              errno=1146, hint="dump it with its definition")
        return InsertColumns(version.definition, head.columns)

    def _parse(self, header: np.ndarray, columns: InsertColumns | None, out: np.ndarray) -> int:
        """Rows from `text.at` on into the spans; none are kept of a table that is left out."""
        text, session = self.text, self.session
        flags = tuple_kernel.BACKSLASH * session.backslash | tuple_kernel.ANSI_QUOTES * session.ansi_quotes
        n_columns = 0 if columns is None else len(columns)
        if self._spans is None or len(self._spans.seen) != n_columns:
            self._spans = new_spans(n_columns, BATCH_VALUES)
        spans = self._spans
        spans.seen[:] = 0
        capacity = 0 if columns is None else spans.kinds.shape[1]
        return tuple_kernel.parse_rows(text.address, text.at, text.end, header.ctypes.data, len(header), flags,
                                       n_columns, capacity, spans.starts.ctypes.data, spans.lengths.ctypes.data,
                                       spans.kinds.ctypes.data, spans.seen.ctypes.data, out)

    def _add(self, columns: InsertColumns, n_rows: int, head: InsertHead) -> None:
        """Convert the rows of the spans and put them to the table's."""
        definition = columns.definition
        try:
            rows, zero_dates = columns.rows(self._spans, n_rows, self.text.data, self.session.reading)
        except OddLiteral as error:
            place = int(self._spans.starts[error.place, error.row])
            self.text.at = place
            raise SchemaError(f"column {error.column} cannot take the value {error.literal}: {str(error)[:200]}",
                              table=definition.full_name) from None
        self.zero_dates += zero_dates
        self._rows_of(definition).add(rows, head.on_duplicate)

    def _rows_of(self, definition: TableDefinition) -> SortedRows:
        """Where the table's rows go; those of the table before it are put away, as most likely no more are coming."""
        name = definition.database, definition.name
        if self._last not in (None, name) and self._last in self.tables:
            self.tables[self._last].flush()
        self._last = name
        if name not in self.tables:
            self.tables[name] = SortedRows(definition, self.staging.place(*name), self.spill)
        return self.tables[name]

    # ---- publish

    def _publish(self, began: float) -> ReplayResult:
        live = sorted((version.definition for version in self.history.live()
                       if self.options.filter.wanted(version.definition.database, version.definition.name)),
                      key=lambda definition: (definition.database, definition.name))
        entries, results = [], []
        for definition in live:
            rows = self._rows_of(definition)
            files = rows.finish()
            entries.append(TableEntry(definition.database, definition.name, definition.to_json(), rows.key_names,
                                      rows.key_form, tuple(files), rows.key_rules))
            results.append(TableResult(definition.database, definition.name, rows.rows, inserts=rows.rows,
                                       files_written=len(files)))
        imported = time.perf_counter() - began
        position = self._position()
        databases = tuple(DatabaseEntry(name, charset.charset, charset.collation)
                          for name, charset in sorted(self.history.databases().items()))
        source = Source((), {"dump": self.options.dump, **self.options.for_manifest()}, None)
        snapshot = Snapshot(position.in_manifest(self.flavour), tuple(entries), source,
                            f"mysql-binlog-applier {__version__}", databases=databases)
        schema_sql = schema_file(live)
        seconds = {"import": imported}
        result = ReplayResult(self.options.output, str(snapshot.position), snapshot.position.gtid_set, None,
                              tuple(results), seconds, tuple(self._notes(position)), zero_dates=self.zero_dates)
        self.staging.commit(snapshot, schema_sql, result.report())
        seconds["publish"] = time.perf_counter() - began - imported
        return result

    def _notes(self, position: DumpPosition) -> Iterator[str]:
        """What a person should know of the snapshot."""
        if self.zero_dates:
            yield f"{self.zero_dates:,} zero dates became null"
        if not position.file and not position.gtid_set:
            yield "the dump does not say at which binlog position it was made: a replay on top of it begins with the " \
                  "first binlog that it is given"

    def _position(self) -> DumpPosition:
        """What the options say, else what the dump says."""
        given, said = self.options, self.position
        if given.position is not None:
            said = DumpPosition(*given.position, given.gtid_set or said.gtid_set)
        elif given.gtid_set is not None:
            said = DumpPosition(said.file, said.offset, given.gtid_set)
        return said


def _altered(change: SchemaChange) -> Iterable[TableName]:
    """The tables whose rows a change keeps."""
    match change:
        case AlterTable(table):
            return (table,)
        case RenameTables(pairs):
            return [name for pair in pairs for name in pair]
        case _:
            return ()


def _decoded(sql: bytes) -> str:
    """A statement's text; definitions are in UTF-8 in every dump, whatever its literals are in."""
    return sql.decode("utf-8", "surrogateescape")
