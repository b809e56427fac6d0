"""Partitions that chosen transactions dropped: the statements that create them again, and the resulting definition
(UNDO-PARTITION).

A RANGE partition is split off the one that has its range now, which keeps the rows inserted since, or added at
the end; a LIST partition is added at the end, or split off the DEFAULT one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from applier.columns.alter.partitions import range_bounds
from applier.errors import NotComputable, SchemaError
from applier.jobs.undo.losses import Loss
from applier.jobs.undo.trace.traced_table import LossSince
from applier.mysql.names import folded
from applier.mysql.types import quote_name
from applier.schema.definition import TableDefinition
from applier.schema.partitions import DEFAULT, Partition, Partitioning


def with_partitions_back(definition: TableDefinition,
                         losses: Sequence[LossSince]) -> tuple[TableDefinition, tuple[str, ...]]:
    """Return a table's current definition, and the statements since, in their order. Raises SchemaError if the others
    have divided it so that a partition does not fit."""
    found, dropped_later = list[str](), set[str]()
    for since in reversed(losses):
        names = {folded(one.name) for one in since.loss.dropped}
        if since.is_chosen:
            if again := names & dropped_later:
                raise _refused(definition, sorted(again)[0], "was dropped again since")
            for partition in since.loss.dropped:
                definition, statements = _with(definition, since.loss, partition)
                found += statements
        else:
            dropped_later |= names
    return definition, tuple(found)


def otherwise(loss: Loss, before: Sequence[LossSince]) -> Loss:
    """Return the rows that a statement would have removed if chosen ones had not dropped partitions before. Raises as
    above."""
    if loss.part is None or not any(since.is_chosen and since.loss.dropped for since in before):
        return loss
    definition, _ = with_partitions_back(loss.definition, before)
    assert definition.partitioning is not None
    return replace(loss, definition=definition, part=loss.part.among(definition.partitioning))


def _with(definition: TableDefinition, loss: Loss, partition: Partition) -> tuple[TableDefinition, list[str]]:
    by, before = definition.partitioning, loss.definition.partitioning
    assert before is not None
    if by is None or _way(by) != _way(before):
        raise _refused(definition, partition.name, "is of a table that is divided in another way since")
    if partition in by.partitions:  # it was made again
        return definition, []
    if by.has(partition.name):
        raise _refused(definition, partition.name, "is a different one now")
    by_range = by.method.startswith("RANGE")
    number = _of_range(definition, loss, partition) if by_range else _of_list(definition, partition)
    table = f"ALTER TABLE {quote_name(definition.database)}.{quote_name(definition.name)}"
    if number is None:
        made = by.with_more([partition])
        words = f"ADD PARTITION ({partition.sql(by.method, with_directories=True)})"
    else:
        taking = by.partitions[number]
        both = [partition, taking] if by_range else [taking, partition]  # else MariaDB loses track of DEFAULT's rows
        made = by.reorganized([taking.name], both)
        words = (f"REORGANIZE PARTITION {quote_name(taking.name)} INTO "
                 f"({', '.join(one.sql(by.method, with_directories=True) for one in both)})")
    return replace(definition, partitioning=made), [f"{table} {words}"]


def _way(by: Partitioning) -> Partitioning:
    return replace(by, partitions=())


def _of_range(definition: TableDefinition, loss: Loss, partition: Partition) -> int | None:
    """Return the number of the partition that has its range now; None if it comes last."""
    try:
        now, before = range_bounds(definition), range_bounds(loss.definition)
    except NotComputable as error:
        raise _refused(definition, partition.name, f"has a range that is not known ({error.message})") from None
    known = loss.definition.partitioning
    assert known is not None
    [number] = known.numbers_of([partition.name])
    own, lowest = before[number], bisect_right(now, before[number - 1]) if number else 0
    number = bisect_right(now, own)
    if number != lowest:  # bounds within its range, or its own one
        raise _refused(definition, partition.name, "had a range that is divided in another way since")
    return number if number < len(now) else None


def _of_list(definition: TableDefinition, partition: Partition) -> int | None:
    """Return the number of the partition that takes its values now, since no other does; None if none takes them."""
    by = definition.partitioning
    assert by is not None
    if taken := next((one for one in by.partitions if set(one.values) & set(partition.values)), None):
        raise _refused(definition, partition.name, f"had values that partition {taken.name} has now")
    return next((number for number, one in enumerate(by.partitions) if (DEFAULT,) in one.values), None)


def _refused(definition: TableDefinition, name: str, what: str) -> SchemaError:
    return SchemaError(f"partition {name}, which the undo restores, {what}", table=definition.full_name,
                       hint="also undo those statements; or make the partition by hand out of what `applier replay "
                            "--stop-position` gives, and choose the other transactions")
