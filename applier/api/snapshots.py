"""Snapshots as objects: their position, and their tables for any reader of Arrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from applier.api.calls.arguments import PathLike, Place, Time, Watcher, path, point, watcher
from applier.api.calls.checked import checked, shown
from applier.errors import SnapshotError, UsageError
from applier.io.parquet_reading import open_parquet, scanned_format
from applier.io.resolver import join, read_text
from applier.schema.definition import TableDefinition, table_schema
from applier.snapshot import manifest
from applier.snapshot.as_of import version_as_of
from applier.snapshot.files import location
from applier.snapshot.files.checks import reading
from applier.snapshot.files.file_entries import undivided
from applier.snapshot.files.unsigned_bigints import choice_onto, unsigned_bigints
from applier.snapshot.manifest import BinlogPosition
from applier.snapshot.table_entry import TableEntry

if TYPE_CHECKING:
    import duckdb
    import pandas
    from pyarrow import dataset

    from applier.jobs.replay.result import ReplayResult
    from applier.jobs.verify.files import Verified


class SnapshotTable:
    """A table of a snapshot, for any reader of Arrow: DuckDB, Polars, pandas, pyarrow.

    Rows are in key order. An invalid date is null, as for every reader of its files.
    """

    def __init__(self, snapshot: Snapshot, entry: TableEntry) -> None:
        self._snapshot, self._entry = snapshot, entry
        self.database, self.name = entry.database, entry.name

    @property
    def full_name(self) -> str:
        """ "db.table"."""
        return self._entry.full_name

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._entry.rows

    @property
    def bytes(self) -> int:
        """The size of its files in bytes."""
        return self._entry.bytes

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that its files are sorted by; empty if no key can be used."""
        return self._entry.key

    @property
    def files(self) -> tuple[str, ...]:
        """The paths or URIs of its Parquet files, in key order; with partitions, each range of keys has several.
        Raises UsageError in a lake that merges on read, where files may contain dead rows."""
        if self._snapshot._manifest.merges:
            raise UsageError("the lake merges on read, so files alone are not the table", table=self.full_name,
                             hint="read it with to_arrow(), scan(), sql() or the views of `applier views`")
        return tuple(join(self._snapshot.root, file.path) for file in undivided(self._entry.files))

    @cached_property
    def definition(self) -> str:
        """Its CREATE TABLE."""
        return self._definition.to_sql()

    @cached_property
    def schema(self) -> pa.Schema:
        """The Arrow schema of its columns, without VIRTUAL ones."""
        shown = self._definition.shown
        return unsigned_bigints(shown).stored_schema(table_schema(shown), self._snapshot.unsigned_bigint)

    def scan(self) -> dataset.Dataset:
        """Return its files as a dataset, from which a reader selects columns and rows. Reading a damaged page
        raises OSError. In a lake that merges on read, the rows are in memory."""
        from pyarrow import dataset

        if self._entry.layer is not None and self._entry.partition is None:
            return dataset.dataset(self.to_arrow())

        filesystem, root = location.resolve(self._snapshot.root)
        return dataset.dataset([f"{root}/{file.path}" for file in undivided(self._entry.files)], schema=self.schema,
                               format=scanned_format(), filesystem=filesystem)

    @checked
    def to_arrow(self, columns: Sequence[str] | None = None, filter: Any = None) -> pa.Table:
        """Return its rows, or the given columns of the rows that a pyarrow.dataset expression selects. Raises
        UsageError for an unknown column, SnapshotError for a missing or damaged file."""
        from pyarrow import compute

        if unknown := [name for name in columns or () if name not in self.schema.names]:
            raise UsageError(f"the table has no column {unknown[0]!r}", table=self.full_name,
                             hint=f"it has {', '.join(self.schema.names)}")
        if filter is not None and not isinstance(filter, compute.Expression):
            raise UsageError(f"`filter` cannot be {shown(filter)}",
                             hint="it takes an expression: pyarrow.compute.field('id') > 7")
        if self._entry.layer is not None:
            parts = (rows if filter is None else rows.filter(filter) for rows in self._merged())
            return pa.concat_tables([self.schema.empty_table(), *parts]).select(
                self.schema.names if columns is None else list(columns))
        try:
            return self.scan().to_table(columns=None if columns is None else list(columns), filter=filter)
        except OSError:
            self._raise_for_damage()
            raise

    @checked
    def to_pandas(self, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        """Return its rows as a data frame with pandas' own types: integers beside nulls are floats, exact up to 2^53.
        Raises SnapshotError as `to_arrow` does."""
        return self.to_arrow(columns).to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return its rows for Arrow's PyCapsule interface: `polars.DataFrame(table)` and the like."""
        if self._entry.layer is not None:
            return pa.RecordBatchReader.from_batches(self.schema, self._batches()).__arrow_c_stream__(requested_schema)
        return self.scan().scanner().to_reader().__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches of `_merged`; errors are OSErrors, as Arrow passes them on."""
        try:
            for rows in self._merged():
                yield from rows.to_batches()
        except SnapshotError as error:
            raise OSError(str(error)) from error

    def _merged(self) -> Iterator[pa.Table]:
        """Yield its rows in a lake that merges on read, as files have them, some thousand at a time."""
        from applier.snapshot.files.stored_columns import StoredColumns
        from applier.snapshot.files.value_marks import ValueMarks
        from applier.snapshot.lake.merged_rows import RangeReader

        shown = self._definition.shown
        charsets = StoredColumns.of(shown).charsets
        for file in self._entry.files:
            for part in RangeReader(self._snapshot.root, file, table_schema(shown)).all():
                rows = unsigned_bigints(shown).as_stored(part.rows, self._snapshot.unsigned_bigint)
                yield ValueMarks(charsets).taken_from(rows).cast(self.schema)

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        return f"<table {self.full_name}: {self.rows:,} rows>"

    def _raise_for_damage(self) -> None:
        """Raise SnapshotError for the first file that cannot be read: errors of datasets do not name it."""
        filesystem, root = location.resolve(self._snapshot.root)
        for file in self._entry.files:
            with reading(name := f"{root}/{file.path}"), filesystem.open_input_file(name) as source:
                for _ in open_parquet(source).iter_batches():
                    pass

    @cached_property
    def _definition(self) -> TableDefinition:
        return self._entry.definition


class _Tables(Mapping[str, SnapshotTable]):
    """Tables by "db.table"; several of one such name, with dots in names, by "`db`.`table`"."""

    def __init__(self, snapshot: Snapshot, entries: Sequence[TableEntry]) -> None:
        known = Counter(entry.full_name for entry in entries)
        self._found = {entry.full_name if known[entry.full_name] == 1 else f"`{entry.database}`.`{entry.name}`":
                       SnapshotTable(snapshot, entry) for entry in entries}

    def __getitem__(self, name: str) -> SnapshotTable:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<tables {', '.join(self._found)}>"


class Snapshot:
    """A published snapshot.

    >>> snapshot = applier.Snapshot("lake/now")
    >>> snapshot.tables["shop.orders"].rows
    2114
    >>> snapshot.sql("SELECT count(*) FROM shop.orders WHERE status = 'paid'").fetchall()
    [(596,)]

    For a lake, this is the latest version, or the last one at or before a position:

    >>> made = applier.replay("backup", lake="lake/kept", snapshot_at=["binlog.000002:745606", "binlog.000003:176495"])
    >>> applier.Snapshot("lake/kept", as_of="binlog.000003:4").position.file
    'binlog.000002'

    uri: a snapshot, a lake, or a version of one.
    as_of: a position, a GTID set, or a time (local, if it has no zone); for lakes.

    Raises SnapshotError if it does not exist or is damaged, or if the position is before the oldest version; UsageError
    for a position in a snapshot that is not a lake.
    """

    @checked
    def __init__(self, uri: PathLike, as_of: Place | Time | None = None) -> None:
        given = path(uri)
        self._manifest = manifest.load(given if as_of is None else version_as_of(given, point(as_of)))

    @property
    def uri(self) -> str:
        """Its path or URI."""
        return self._manifest.uri

    @property
    def root(self) -> str:
        """The folder that contains its files: its own, or that of its lake."""
        return self._manifest.root

    @property
    def position(self) -> BinlogPosition:
        """Its position in the log: the end of an event group, with the GTID set and the time of that group."""
        return self._manifest.position

    @property
    def unsigned_bigint(self) -> str:
        """The type of BIGINT UNSIGNED in its files: decimal, long or uint64."""
        return choice_onto(self._manifest.source.options, None)

    @cached_property
    def tables(self) -> Mapping[str, SnapshotTable]:
        """Its tables by "db.table"; several of one such name, with dots in names, by "`db`.`table`"."""
        return _Tables(self, self._manifest.tables)

    @property
    def schema(self) -> str:
        """The CREATE TABLE of every table: the content of _schema.sql."""
        from applier.snapshot.staging import SCHEMA

        return read_text(join(self.uri, SCHEMA))

    @cached_property
    def report(self) -> ReplayResult:
        """The report of the run that made it. Raises SnapshotError if there is none, as after an import."""
        from applier.jobs.report.loading import load_report

        return load_report(self.uri).result

    @checked
    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """Query its tables as `applier.query` does."""
        from applier.jobs.views.querying import connect

        return connect({"": self.uri}).sql(query)

    @checked
    def views(self, dialect: Literal["duckdb", "spark"] = "duckdb") -> str:
        """Return SQL that creates a view of each table over its files, with column comments, for DuckDB or Spark
        SQL."""
        from applier.jobs.views.job import views_of

        return "".join(views_of(self._manifest, dialect))

    @checked
    def verify(self, progress: Watcher | None = None) -> Verified:
        """Read all its files and compare them with the manifest. Damage is reported in the result, not raised."""
        from applier.engine import compiling
        from applier.jobs.verify.files import verify

        watch = watcher(progress)
        compiling.ensure("verify", watch)
        return verify(self.uri, watch)

    def __repr__(self) -> str:
        return f"<snapshot {self.uri} at {self.position}: {len(self.tables):,} tables>"
