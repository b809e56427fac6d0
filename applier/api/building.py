"""`applier.binlog.Writer`: build events and write them to a binlog file that servers and `replay` can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias
from uuid import UUID

import pyarrow as pa

from applier.api.calls.arguments import PathLike, path
from applier.api.calls.checked import checked, shown
from applier.binlog.events.query import parse_query
from applier.binlog.outline.outline import Statement
from applier.errors import UsageError
from applier.io.resolver import read_text
from applier.schema.definition import TableDefinition
from applier.schema.history.history import SchemaHistory
from applier.writer import event_encoder
from applier.writer.row_encoder import RowChanges
from applier.writer.values import image_values
from applier.writer.wire_columns import wire_columns
from applier.writer.writer import SOURCE, BinlogWriter

Rows: TypeAlias = Any
"""Values by column, lists or arrays; a list of dicts, one per row; or anything that pyarrow accepts as a table. Values
are as in a snapshot: {"price": [Decimal("9.99")]}, [{"price": Decimal("9.99")}]."""


class Writer:
    """A binlog file to be written, as a server would write it; a context manager that closes it.

    >>> import applier.binlog
    >>> from jsondiff import Diff, Operation, path
    >>> change = Diff(Operation.REPLACE, path.parse("$.n"), 2)
    >>> with applier.binlog.Writer("made.000001") as log:
    ...     log.query("CREATE DATABASE shop")
    ...     log.query("CREATE TABLE shop.item (id INT PRIMARY KEY, kind ENUM('lamp', 'stove'), about JSON)")
    ...     with log.transaction():
    ...         log.insert("shop.item", {"id": [1, 2], "kind": ["lamp", "stove"], "about": ['{"n": 1}', None]})
    ...     with log.transaction(datetime(2026, 3, 14, 10, 30, tzinfo=UTC)):
    ...         log.update("shop.item", {"id": [1]}, {"about": [[change]]}, diffs=["about"])
    ...         log.delete("shop.item", {"id": [2]})
    >>> applier.replay("made.000001", "lake/made").snapshot.tables["shop.item"].to_arrow().to_pylist()
    [{'id': 1, 'kind': 'lamp', 'about': '{"n": 2}'}]

    `mysqlbinlog made.000001 | mysql` applies it to a server. Images have exactly the given columns: full images have
    all of them, minimal ones the key before and the changed columns after. Only the fit of values to columns is
    checked; whether rows exist, a replay or a server checks.

    path: the file, which is replaced.
    flavour: the kind of server that the log is for.
    schema: a file of CREATE TABLEs of tables that exist before it.
    gtids: on; anonymous, as with gtid_mode=OFF (MySQL); or none, as in servers before 5.6.
    source: the UUID of the server (MySQL).
    server_id: the server's id.
    executed: the number of transactions before this file.
    compress: whether transactions are compressed.
    checksum: whether events have a CRC32.
    time: the time of the first events; by default now.
    """

    @checked
    def __init__(self, path: PathLike, *, flavour: Literal["mysql", "mariadb"] = "mysql",
                 schema: PathLike | None = None, gtids: Literal["on", "anonymous", "none"] = "on",
                 source: UUID | str = SOURCE, server_id: int = 1, executed: int = 0, compress: bool = False,
                 checksum: bool = True, time: datetime | None = None) -> None:
        for name, number, bits in (("server_id", server_id, 32), ("executed", executed, 62)):
            if not 0 <= number < 1 << bits:
                raise UsageError(f"`{name}` cannot be {shown(number)}",
                                 hint=f"it is a number from 0 to {(1 << bits) - 1}")
        self._history = SchemaHistory(flavour, skip_statements=True)
        if schema is not None:
            self._history.load_schema_file(read_text(_text(schema)))
        try:
            self._log = BinlogWriter(_text(path), flavour=flavour, gtids=gtids, source=UUID(str(source)),
                                     server_id=server_id, executed=executed, compress=compress, checksum=checksum,
                                     timestamp=int((time or datetime.now(UTC)).timestamp()))
        except (ValueError, OSError) as error:
            raise UsageError(f"the file cannot be made: {error}", file=_text(path)) from None

    @property
    def position(self) -> tuple[str, int]:
        """Return the file, and the offset where the next event starts."""
        return self._log.path, self._log.position

    @checked
    def query(self, sql: str, database: str = "") -> None:
        """Write a statement, in its own event group or in the open transaction. DDL applies to later changes.
        `database` is the default database. Raises SchemaError for DDL that cannot be followed."""
        body = event_encoder.query(sql, database, self._log.flavour)
        at, said = (0, self._log.position), parse_query(body)
        context: dict[str, Any] = dict(said.context)
        self._history.apply(Statement(at[1], at[1], at[1], sql, database, context, self._log.timestamp, None), at, at)
        self._log.query(sql, database)

    @checked
    @contextmanager
    def transaction(self, time: datetime | None = None, *, rollback: bool = False) -> Iterator[None]:
        """Write everything inside as one event group, with a time that also applies later; nothing after an error."""
        if time is not None:
            self._log.timestamp = int(time.timestamp())
        with self._log.transaction("rollback" if rollback else "commit"):
            yield

    @checked
    def insert(self, table: str, rows: Rows) -> None:
        """Insert rows into a table, "db.table", in the open transaction: values by column, a list of dicts, or anything
        that pyarrow accepts as a table, as in a snapshot: Decimals, datetimes, labels of ENUMs, JSON as text."""
        definition = self._table(table)
        self._rows(definition, None, _image(definition, rows))

    @checked
    def update(self, table: str, before: Rows, after: Rows, *, diffs: Sequence[str] = ()) -> None:
        """Update rows: each row of `before` becomes the corresponding row of `after`. `diffs` names JSON columns (of
        MySQL) whose values in `after` are lists of Diffs (jsondiff), as binlog_row_value_options=PARTIAL_JSON logs
        them."""
        definition = self._table(table)
        images = _image(definition, before), _image(definition, after, diffs)
        if not all(images):
            raise UsageError("an update has no columns before or after it", table=table,
                             hint='give values by column, {"id": [1]}, or rows, [{"id": 1}]')
        self._rows(definition, *images, tuple(diffs))

    @checked
    def delete(self, table: str, rows: Rows) -> None:
        """Delete rows."""
        definition = self._table(table)
        self._rows(definition, _image(definition, rows), None)

    def flush(self) -> None:
        """Make everything written so far visible to readers: whole groups, unless a transaction is open."""
        self._log.flush()

    @checked
    def rotate(self, path: PathLike) -> None:
        """End this file, and continue in the next one, in the same directory."""
        self._log = self._log.rotate(_text(path))

    def close(self) -> None:
        """Close the file."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def _table(self, name: str) -> TableDefinition:
        for version in self._history.live():
            if version.definition.full_name == name:
                return version.definition
        raise UsageError(f"the table {name} has no definition",
                         hint="write its CREATE TABLE with query(), or give `schema`")

    def _rows(self, table: TableDefinition, before: dict[str, pa.Array] | None, after: dict[str, pa.Array] | None,
              diffs: tuple[str, ...] = ()) -> None:
        try:
            self._log.rows(RowChanges(table, before, after, diffs))
        except ValueError as error:
            raise UsageError(str(error), table=table.full_name) from None


def _image(table: TableDefinition, rows: Rows, diffs: Iterable[str] = ()) -> dict[str, pa.Array]:
    """Return the columns of an image in its format. Raises UsageError."""
    from jsondiff import wire

    try:
        given = rows if isinstance(rows, Mapping) else _by_column(rows)
    except (ValueError, TypeError) as error:
        raise UsageError(f"these are not rows: {error}", table=table.full_name,
                         hint='give values by column, {"id": [1, 2]}, or rows, [{"id": 1}, {"id": 2}]') from None
    columns = {column.name: (column, of_wire) for column, of_wire in zip(table.columns, wire_columns(table),
                                                                         strict=True)}
    if unknown := [name for name in (*given, *diffs) if name not in columns]:
        raise UsageError(f"the table has no column {unknown[0]!r}", table=table.full_name,
                         hint=f"it has {', '.join(columns)}")
    try:
        return {name: pa.array([wire.encode(changes) for changes in values], pa.binary()) if name in diffs
                else image_values(values, *columns[name]) for name, values in given.items()}
    except ValueError as error:
        raise UsageError(str(error), table=table.full_name) from None


def _by_column(rows: Any) -> dict[str, Any]:
    if isinstance(rows, list) and rows and all(isinstance(row, Mapping) for row in rows):
        if any(row.keys() != rows[0].keys() for row in rows):
            raise ValueError("they have different columns")
        return {name: [row[name] for row in rows] for name in rows[0]}
    table = rows if isinstance(rows, pa.Table) else pa.table(rows)
    return dict(zip(table.column_names, table.columns, strict=True))


_text = path
"""An alias, since `path` is also the name of an argument."""
