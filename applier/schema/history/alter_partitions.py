"""How ALTER TABLE changes a table's partitions, and which rows it removes.

Source: MySQL manual, "ALTER TABLE Partition Operations"; MariaDB's "ALTER TABLE".
"""

from collections.abc import Sequence

from applier.errors import SchemaError
from applier.schema.ddl.alter_actions import (
    AddPartitions,
    AlterAction,
    CoalescePartitions,
    DropPartitions,
    ExchangePartition,
    PartitionBy,
    PartitionFromTable,
    PartitionToTable,
    ReorganizePartitions,
    TruncatePartitions,
)
from applier.schema.partitions import Partitioning, PartRows


def altered_partitions(before: Partitioning | None,
                       actions: Sequence[AlterAction]) -> tuple[Partitioning | None, PartRows | None]:
    """The partitioning afterwards, and the rows that are removed. A statement has at most one action on partitions. If
    the partitions are not known, as in an older program's base, actions that only divide rows anew change nothing."""
    known = None if before is None or before.other else before
    for action in actions:
        match action:
            case PartitionBy(partitioning):
                return partitioning, None
            case ExchangePartition() | PartitionToTable() | PartitionFromTable():
                raise SchemaError("EXCHANGE and CONVERT concern two tables, not one")
            case DropPartitions() | TruncatePartitions() if known is None:
                verb = "DROP" if isinstance(action, DropPartitions) else "TRUNCATE"
                raise SchemaError(f"{verb} PARTITION of a table whose partitions are not known")
            case _ if known is None:
                continue
            case DropPartitions(names, if_exists):
                if if_exists:
                    names = tuple(name for name in names if known.has(name))
                return known.without(names), known.rows_of(names)
            case TruncatePartitions(names):
                return known, known.rows_of(names)
            case AddPartitions(partitions, count, if_not_exists):
                if if_not_exists:
                    partitions = tuple(partition for partition in partitions if not known.has(partition.name))
                return known.with_as_many_more(count) if count else known.with_more(partitions), None
            case CoalescePartitions(count):
                return known.with_as_many_more(-count), None
            case ReorganizePartitions(names, into):
                return known.reorganized(names, into), None
    return before, None
