"""Reads an SQL file once, from beginning to end: statements to definitions, INSERTs to rows."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from applier.binlog.events.format import MAGIC
from applier.errors import NO_DATABASE, ApplierError, SchemaError, UsageError
from applier.io.resolver import folder_of
from applier.jobs.importing.dump_tables import DumpTables, refused_literal
from applier.jobs.importing.position import DumpPosition
from applier.jobs.importing.rows_file import found_beside, read_rows
from applier.jobs.importing.sql import scan_kernel, tuple_kernel
from applier.jobs.importing.sql.dump_text import DumpText
from applier.jobs.importing.sql.inserts import (
    HEAD_BYTES,
    InsertColumns,
    InsertHead,
    new_spans,
    parse_head,
    refused,
)
from applier.jobs.importing.sql.load_data import parse_load_data
from applier.jobs.importing.sql.session import DumpSession
from applier.jobs.importing.sql.spans import LiteralError
from applier.mysql.character_sets.client_charsets import ClientCharsets
from applier.schema.ddl.schema_changes import Dml, SessionChange
from applier.schema.dump_header import database_of_header
from applier.sql.tokens import LONGEST_DELIMITER
from keysearch.addresses import address_of

BATCH_VALUES = 1 << 20
_DELIMITER = re.compile(rb"DELIMITER[ \t]+(\S+)[^\n]*", re.IGNORECASE)
_SET = re.compile(r"(?:/\*M?!\d*\s*)?SET\b", re.IGNORECASE)
_LOAD_DATA = re.compile(r"LOAD\s+DATA\b", re.IGNORECASE)
_ROLE = re.compile(r"(?:/\*M?!\d*\s*)?EXECUTE\s+IMMEDIATE\s+CONCAT\s*\('SET ROLE ',", re.IGNORECASE)
"""mariadb-dump --system=users ends with it."""
_EMPTIES = re.compile(r"DELETE\s+FROM\s+(?:`(?:[^`]|``)+`|\w+)(?:\s*\.\s*(?:`(?:[^`]|``)+`|\w+))?", re.IGNORECASE)
_CHANGES_ROWS = frozenset({"INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD"})
# Sets in which a byte of a longer character may look like a quote or a backslash.
_UNREADABLE = frozenset({"big5", "cp932", "gb18030", "gbk", "sjis"})


class SqlFile:
    """One SQL file: the position in it, and the `session` that its statements make. `on_progress` is called with the
    bytes that have been read of it, and of files that it loads."""

    def __init__(self, text: DumpText, tables: DumpTables, session: DumpSession,
                 on_progress: Callable[[int], None]) -> None:
        self.text, self.tables, self.session, self._on_progress = text, tables, session, on_progress
        self.has_unnamed_text = False
        """Whether some rows have text beyond ASCII whose character set the file does not name."""
        self.position = DumpPosition()
        self._delimiter = np.frombuffer(b";", np.uint8)
        self._spans = new_spans(0, BATCH_VALUES)
        self._loaded = 0

    def read(self) -> DumpPosition:
        """Read all of it; returns the position that it names. Raises ApplierError, naming file and line."""
        self._refuse_binlog()
        while (start := self._statement_start()) is not None:
            self._comments(self._decoded(self.text.text(start)))
            self.text.at = start
            try:
                self._statement()
            except ApplierError as error:
                if error.mysql_errno == NO_DATABASE:
                    error.hint = "name the database of the dump with --database"
                raise error.at(file=self.text.source_line(self.text.at)) from None
            self._on_progress(self.text.bytes_read + self._loaded)
        return self.position

    def _refuse_binlog(self) -> None:
        text = self.text
        while text.end - text.at < len(MAGIC) and text.more():
            pass
        if text.text(text.at + len(MAGIC)) == MAGIC:
            raise UsageError("this is a binlog, not a dump", file=text.uri, hint="`applier replay` reads binlogs")

    def _statement_start(self) -> int | None:
        """Return the offset of the next statement; None at the dump's end."""
        text = self.text
        while (start := scan_kernel.statement_start(text.address, text.at, text.end)) < 0:
            if not text.more():
                self._comments(self._decoded(text.text(text.end)))
                return None
        return int(start)

    def _comments(self, text: str) -> None:
        """Read the facts in comments between statements."""
        self.position = self.position.after(text)
        if self.session.database is None:
            self.session.database = database_of_header(text)

    def _statement(self) -> None:
        text = self.text
        while text.end - text.at < HEAD_BYTES and text.more():
            pass
        start = text.text(min(text.end, text.at + HEAD_BYTES))
        if delimiter := _DELIMITER.match(start):
            self._delimiter = np.frombuffer(delimiter[1][:LONGEST_DELIMITER], np.uint8)
            text.at += delimiter.end()
        elif start[:1] in b"IiRr" and (head := parse_head(start, self.session.codec)) is not None:
            self._insert(head)
        else:
            sql, begin = self._whole_statement()
            try:
                self._other(sql)
            except ApplierError as error:
                raise error.at(file=text.source_line(begin)) from None

    def _whole_statement(self) -> tuple[str, int]:
        """Consume the statement: its text, and its offset in the window."""
        text, delimiter = self.text, self._delimiter
        while (end := scan_kernel.statement_end(text.address, text.at, text.end, address_of(delimiter), len(delimiter),
                                                self.session.backslash)) < 0:
            if not text.more():
                if delimiter.tobytes() == b";":
                    raise UsageError("the dump ends within a statement", hint="is the file complete?")
                end = text.end - len(delimiter)  # the guard behind the dump's end is longer
                break
        sql, begin = self._decoded(text.text(end)), text.at
        text.at = int(end) + len(delimiter)
        return sql, begin

    def _other(self, sql: str) -> None:
        """Handle a statement other than INSERT."""
        if not sql.strip():
            return
        self.position = self.position.after(sql)
        if _LOAD_DATA.match(sql):
            self._load_data(sql)
            return
        if _ROLE.match(sql):
            return
        session = self.session
        changes = self.tables.history.load_statement(
            sql, database=session.database, sql_mode=session.sql_mode, time_zone=session.time_zone,
            charsets=ClientCharsets(session.codec, session.charset))
        if _SET.match(sql):
            self.session.set(sql)
        for change in changes:
            if isinstance(change, SessionChange) and change.database is not None:
                self.session.database = change.database
            elif isinstance(change, Dml):
                self._stop_at_dml(change)
        self.tables.follow(changes)

    def _stop_at_dml(self, change: Dml) -> None:
        concerned = [table for table in change.tables or () if self.tables.wanted(*table)]
        if _EMPTIES.fullmatch(change.sql.strip()) and not any(map(self.tables.has_rows, concerned)):
            return  # HeidiSQL writes it before the rows of each table
        if concerned or (change.tables is None and change.kind in _CHANGES_ROWS):
            raise SchemaError(f"a statement of the dump changes rows in a way that cannot be imported: "
                              f"{' '.join(change.sql[:400].split())[:200]}",
                              table=".".join(concerned[0]) if concerned else None,
                              hint="only INSERT and REPLACE … VALUES, and LOAD DATA, can be; load it into a server and "
                              "dump that")

    def _load_data(self, sql: str) -> None:
        session = self.session
        rows = parse_load_data(sql, session.database, session.sql_mode, self.tables.flavour, session.reading.charset)
        uri = found_beside(folder_of(self.text.uri), rows.uri)
        self._loaded += read_rows(rows, uri, self.tables, session.reading,
                                  lambda done: self._on_progress(self.text.bytes_read + self._loaded + done),
                                  with_history=session.inserts_history)

    def _insert(self, head: InsertHead) -> None:
        database = head.database or self.session.database
        if database is None:
            raise SchemaError(f"there is no default database to look for table {head.table} in",
                              errno=NO_DATABASE)
        self.text.at += len(head.text)
        wanted = self.tables.wanted(database, head.table)
        columns = self.tables.columns(database, head.table, head.columns,
                                      with_history=self.session.inserts_history) if wanted else None
        if wanted and self.session.reading.charset in _UNREADABLE:
            raise UsageError(f"the dump uses the character set {self.session.reading.charset}, which is not supported",
                             hint="dump with `mysqldump --default-character-set=utf8mb4`")
        header = np.frombuffer(head.text, np.uint8)
        out = np.zeros(2, np.int64)
        while True:
            code = self._parse(header, columns, out)
            if columns is not None and out[0]:
                self._add(columns, int(out[0]), head)
            self.text.at = int(out[1])
            if code == tuple_kernel.Status.ENDED:
                return
            if code == tuple_kernel.Status.NEEDS_MORE:
                if not self.text.more():
                    raise UsageError("the dump ends within an INSERT", hint="is the file complete?")
            elif code != tuple_kernel.Status.FULL:
                raise refused(code, f"{database}.{head.table}", 0 if columns is None else len(columns))

    def _parse(self, header: np.ndarray, columns: InsertColumns | None, out: np.ndarray) -> int:
        """Read rows from `text.at` on into spans; none are kept for a table that is left out."""
        text, session = self.text, self.session
        flags = tuple_kernel.BACKSLASH * session.backslash | tuple_kernel.ANSI_QUOTES * session.ansi_quotes
        n_columns = 0 if columns is None else len(columns)
        if len(self._spans.seen) != n_columns:
            self._spans = new_spans(n_columns, BATCH_VALUES)
        spans = self._spans
        spans.seen[:] = 0
        record = np.zeros((), tuple_kernel.SPANS) if columns is None else spans.record()
        code: int = tuple_kernel.parse_rows(text.address, text.at, text.end, address_of(header), len(header), flags,
                                            address_of(record), out)
        if columns is not None and not session.knows_charset:
            self.has_unnamed_text |= bool((text.data[text.at:int(out[1])] >= 0x80).any())
        return code

    def _add(self, columns: InsertColumns, n_rows: int, head: InsertHead) -> None:
        try:
            self.tables.add(columns, self._spans, n_rows, self.text.data, self.session.reading, head.on_duplicate)
        except LiteralError as error:
            self.text.at = int(self._spans.starts[error.index, error.row])
            raise refused_literal(error, columns) from None

    def _decoded(self, sql: bytes) -> str:
        return sql.decode(self.session.codec, "surrogateescape")
