"""The job: make a snapshot from a dump, read once from beginning to end.

    file or directory → parts, in their order
    parts             → definitions, sorted files of rows, position
    publish           as a replay does
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace

from applier.columns.table_key import table_key
from applier.errors import UsageError
from applier.io.disk import full_disk
from applier.io.progress import Progress, Silent
from applier.jobs.importing.directory import HEAD_BYTES, Dump, SqlPart, open_dump
from applier.jobs.importing.dump_flavour import MYSQL, check_no_mariadb, flavour_of_gtids, flavour_of_text
from applier.jobs.importing.dump_tables import DumpTables
from applier.jobs.importing.parquet_file import ParquetPart, read_parquet
from applier.jobs.importing.position import DumpPosition
from applier.jobs.importing.rows_file import read_rows
from applier.jobs.importing.sorted_rows import table_entry
from applier.jobs.importing.sql.dump_text import DumpText
from applier.jobs.importing.sql.load_data import RowsFile
from applier.jobs.importing.sql.session import DumpSession
from applier.jobs.importing.sql.spans import LiteralContext
from applier.jobs.importing.sql_file import SqlFile
from applier.jobs.replay.result import ReplayResult, TableResult
from applier.options import ImportOptions
from applier.options.parquet import file_settings
from applier.schema.schema_file import schema_file
from applier.snapshot.files.partitions import Partition
from applier.snapshot.lake.lake_staging import open_lake
from applier.snapshot.manifest import UNKNOWN, DatabaseEntry, Snapshot, Source, new_lineage
from applier.snapshot.publish import begin
from applier.snapshot.staging import Staging
from applier.version import __version__


def import_dump(options: ImportOptions, progress: Progress | None = None) -> ReplayResult:
    """Import a dump and publish a snapshot. Raises ApplierError, and publishes nothing then."""
    dump = open_dump(options)
    with (_begin(options) as staging, full_disk.explained(staging.output),
          tempfile.TemporaryDirectory(prefix="applier-import-") as spill):
        return _Import(options, dump, staging, spill, progress or Silent()).run()


def _begin(options: ImportOptions) -> Staging:
    settings = file_settings(options.parquet, file_bytes=options.file_bytes, unsigned_bigint=options.unsigned_bigint)
    if options.lake is not None:
        lake = open_lake(options.lake, merge_on_read=options.merge_on_read)
        return lake.begin(settings)
    return begin(options.output, settings)


class _Import:
    """One run."""

    def __init__(self, options: ImportOptions, dump: Dump, staging: Staging, spill: str, progress: Progress) -> None:
        self.options, self.dump, self.staging, self.progress = options, dump, staging, progress
        self.flavour = options.flavour or flavour_of_gtids(options.gtid_set or "") or dump.flavour or _flavour_of(dump)
        self.tables = DumpTables(self.flavour or MYSQL, options.filter, staging, spill, dict(options.partition))
        self.position = dump.position
        self._bytes_before = 0
        self._has_unnamed_text = False

    def run(self) -> ReplayResult:
        began = time.perf_counter()
        self.progress.phase("import", 0, "MB")
        for part in self.dump.parts:
            self._bytes_before += self._read(part)
        return self._publish(began)

    def _read(self, part: SqlPart | RowsFile | ParquetPart) -> int:
        """Read a part of the dump; returns its number of bytes."""
        if isinstance(part, SqlPart):
            return self._read_sql(part)
        if isinstance(part, ParquetPart):
            return read_parquet(part, self.tables, self._on_progress)
        zone = part.time_zone or self.options.system_time_zone or "SYSTEM"
        return read_rows(part, part.uri, self.tables,
                         LiteralContext(flavour=self.tables.flavour, time_zone=zone), self._on_progress)

    def _read_sql(self, part: SqlPart) -> int:
        with DumpText(part.uri, head=part.head) as text:
            session = DumpSession(
                self.tables.flavour, part.database or self.options.database,
                part.time_zone or self.options.system_time_zone or "SYSTEM",
                self.options.default_character_set)
            file = SqlFile(text, self.tables, session, self._on_progress)
            said = file.read()
            self._has_unnamed_text |= file.has_unnamed_text
            if self.position == DumpPosition():
                self.position = said
            return text.bytes_read

    def _on_progress(self, done: int) -> None:
        self.progress.update((self._bytes_before + done) >> 20, self.tables.rows)

    def _publish(self, began: float) -> ReplayResult:
        live, history = self.tables.live(), self.tables.history
        position = self._position()
        if self.flavour is None:
            check_no_mariadb(live, position.gtid_set, self.options.dump)
            self.flavour = flavour_of_gtids(position.gtid_set)
        entries, results = [], []
        for name, text in self.options.partition:
            definitions = [definition for definition in live if definition.full_name == name]
            if not definitions:
                raise UsageError("--partition names a table that the dump does not have", table=name)
            Partition.parse(text).of(definitions[0], self.staging.settings.unsigned_bigint,
                                     has_key=table_key(definitions[0]) is not None)
        for definition in live:
            rows = self.tables.rows_of(definition)
            entry = table_entry(rows, self.staging.target(definition.database, definition.name))
            entries.append(entry)
            results.append(TableResult(definition.database, definition.name, entry.rows, inserts=rows.rows,
                                       files_written=len(entry.files)))
        imported = time.perf_counter() - began
        databases = tuple(DatabaseEntry(name, charset.charset, charset.collation)
                          for name, charset in sorted(history.databases().items()))
        source = Source((), {"dump": self.options.dump, **self.options.for_manifest()}, None)
        snapshot = Snapshot(position.in_manifest(self.flavour or UNKNOWN), tuple(entries), source,
                            f"mysql-binlog-applier {__version__}", databases=databases,
                            sequences=history.sequences(), objects=history.objects.live(self.options.filter),
                            last_column_id=history.last_column_id,
                            lineage=new_lineage())
        schema_sql = schema_file(live, snapshot.objects)
        seconds = {"import": imported}
        result = ReplayResult(self.staging.output, str(snapshot.position), snapshot.position.gtid_set, None,
                              tuple(results), seconds, tuple(self._notes(position)), zero_dates=self.tables.zero_dates)
        self.staging.commit(snapshot, schema_sql, result.report())
        seconds["publish"] = time.perf_counter() - began - imported
        return result

    def _notes(self, position: DumpPosition) -> Iterator[str]:
        """Notes on the snapshot for people."""
        if self.tables.zero_dates:
            yield f"{self.tables.zero_dates:,} zero dates became null"
        if self.flavour is None:
            yield "the dump does not say whether it is of MySQL or of MariaDB: it was read as MySQL's, and the log " \
                  "of a replay on top of it decides; --flavour says it"
        if self._has_unnamed_text:
            yield "the dump does not say in which character set its text is: it was read as utf8mb4; " \
                  "--default-character-set names another one"
        if not position.file and not position.gtid_set and position.group_id is None:
            yield "the dump does not say at which binlog position it was made: a replay on top of it begins with the " \
                  "first binlog that it is given; --position or --gtid-set names it"
        elif not position.gtid_set and self.flavour == "mariadb":  # whose logs always have GTIDs
            yield "the dump does not name the transactions that are in it: a replay on top of it finds its place by " \
                  "file and offset only, and not in another server's logs; --gtid-set names them"

    def _position(self) -> DumpPosition:
        """The position that the options name, else the dump's."""
        given, said = self.options, self.position
        if given.position is not None:
            said = DumpPosition(*given.position, given.gtid_set or said.gtid_set)
        elif given.gtid_set is not None:
            said = DumpPosition(said.file, said.offset, given.gtid_set)
        return said if given.group_id is None else replace(said, group_id=given.group_id)


def _flavour_of(dump: Dump) -> str | None:
    """The flavour that the first of its telling files names; None if none of the definitions tells."""
    for part in dump.parts:
        if not isinstance(part, SqlPart):
            break
        with DumpText(part.uri, HEAD_BYTES, head=part.head) as text:
            if not part.head:
                text.more()
            if flavour := flavour_of_text(text.text(text.end), part.uri):
                return flavour
        if not part.has_definitions:
            break
    return None
