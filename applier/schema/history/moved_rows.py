"""ALTER TABLE that moves rows between a partition and a table.

Source: MySQL manual, "Exchanging Partitions and Subpartitions with Tables"; MariaDB's "ALTER TABLE", CONVERT PARTITION
and CONVERT TABLE.
"""

from dataclasses import replace
from functools import partial

from applier.errors import SchemaError
from applier.mysql.types import arrow_type
from applier.schema.column_ids import unnumbered
from applier.schema.ddl.alter_actions import ExchangePartition, PartitionFromTable, PartitionToTable
from applier.schema.definition import TableDefinition
from applier.schema.history.alter import moved
from applier.schema.history.conversion import RowConversion
from applier.schema.history.table_versions import RowSource, StatementOrigin, TableVersion, TableVersions
from applier.schema.partitions import PartRows

MovingAction = ExchangePartition | PartitionToTable | PartitionFromTable
BOTH_KNOWN = ("it moves rows between tables, and both of them, with their partitions, have to be known and replayed")
MOVING = (ExchangePartition, PartitionToTable, PartitionFromTable)


def move_rows(tables: TableVersions, divided: TableVersion, plain: TableVersion | None, action: MovingAction,
              origin: StatementOrigin) -> None:
    """Begin new versions of both tables; `plain` is the one without partitions, None if the action creates it. Raises
    SchemaError for an unknown partition."""
    old, partitioning = divided.definition, divided.definition.partitioning
    rows_of = partial(_rows, origin)
    follows = tables.follows_places
    match action:
        case PartitionToTable(name, table) if partitioning is not None and plain is None:
            part = partitioning.rows_of([name])
            tables.end((old.database, old.name), origin.end)
            rest = replace(old, partitioning=partitioning.without([name]))
            tables.begin(rest, origin.end, origin.sql, rows_of(divided, rest, removed=part))
            made = unnumbered(moved(replace(old, partitioning=None), *table))
            tables.begin(made, origin.end, origin.sql, rows_of(divided, made, removed=replace(part, inside=False)))
        case PartitionFromTable(_, partition, is_checked) if partitioning is not None and plain is not None:
            more = partitioning.with_more([partition])
            new = replace(old, partitioning=more)
            part = PartRows(more, (len(more.partitions) - 1,))
            _end_both(tables, divided, plain, origin)
            tables.begin(new, origin.end, origin.sql, rows_of(divided, new),
                         rows_of(plain, new, required=part, may_misplace=follows and not is_checked))
        case ExchangePartition(name, _, is_checked) if partitioning is not None and plain is not None:
            part = partitioning.rows_of([name])
            _end_both(tables, divided, plain, origin)
            tables.begin(old, origin.end, origin.sql, rows_of(divided, old, removed=part),
                         rows_of(plain, old, required=part, may_misplace=follows and not is_checked))
            tables.begin(plain.definition, origin.end, origin.sql,
                         rows_of(divided, plain.definition, removed=replace(part, inside=False)))
        case _:
            raise SchemaError(BOTH_KNOWN)


def _rows(origin: StatementOrigin, version: TableVersion, new: TableDefinition, *, removed: PartRows | None = None,
          required: PartRows | None = None, may_misplace: bool = False) -> RowSource:
    """Rows unchanged. Raises SchemaError unless both tables have columns of the same types, as the servers demand."""
    if _columns(version.definition) != _columns(new):
        raise SchemaError(f"it moves rows to {new.full_name}, whose columns are not those of "
                          f"{version.definition.full_name}; servers refuse that")
    columns = tuple(range(len(version.definition.columns)))
    return RowSource(version.id, RowConversion(
        version.definition, new, columns, sql=origin.sql, timestamp_us=origin.timestamp_us, file=origin.file,
        position=origin.position, gtid=origin.gtid, removed=removed, required=required,
        may_misplace=may_misplace))


def _columns(table: TableDefinition) -> list[tuple[object, str | None]]:
    return [(arrow_type(column.type), column.generated) for column in table.columns]


def _end_both(tables: TableVersions, divided: TableVersion, plain: TableVersion, origin: StatementOrigin) -> None:
    for version in (divided, plain):
        tables.end((version.definition.database, version.definition.name), origin.end)
