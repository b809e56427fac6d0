"""Statements that remove rows of a table without changing others: TRUNCATE and DROP, of tables and of
partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from applier.columns.alter.partitions import are_in
from applier.errors import NotComputable, SchemaError
from applier.mysql.names import folded
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import Position, RowSource, TableVersion
from applier.schema.partitions import Partition, PartRows
from applier.sql.tokens import tokenize


@dataclass(frozen=True)
class Loss:
    """The definition before the statement, and the rows that it took away: those of `part`, or all (None). `dropped`
    are the partitions that went with them."""

    definition: TableDefinition
    part: PartRows | None = None
    dropped: tuple[Partition, ...] = ()

    def has(self, rows: pa.Table) -> np.ndarray:
        """Return which of some rows it would have taken away: bool[n]. Raises SchemaError where that is unknown."""
        if self.part is None:
            return np.ones(rows.num_rows, np.bool_)
        try:
            return are_in(rows, self.definition, self.part)
        except NotComputable as error:
            raise SchemaError(f"which rows are in a partition is not known: {error.message}",
                              table=self.definition.full_name, hint="leave it out with --ignore-tables") from None

    @property
    def columns(self) -> list[str]:
        """The names of the columns that `has` needs; one at least, so that rows can be counted."""
        definition, by = self.definition, self.definition.partitioning
        names = [column.name for column in definition.stored_columns]
        if self.part is None or by is None:
            return names[:1]
        words = {folded(token.text) for text in (by.expression or "", by.subpartition_by)
                 for token in tokenize(text, flavour=definition.flavour)}
        key = () if definition.primary_key is None else definition.primary_key.parts  # which KEY () goes by
        words |= {folded(name) for name in (*by.columns, *(part.column or "" for part in key))}
        return [name for name in names if folded(name) in words] or names[:1]


Losses: TypeAlias = Mapping[TableName, Mapping[Position, Loss]]
"""By table, and by where the statement ends."""


def losses(history: SchemaHistory) -> Losses:
    """Return all such statements that the log has."""
    continued: dict[int, list[tuple[TableVersion, RowSource]]] = {}
    for version in history.versions():
        for source in version.sources:
            continued.setdefault(source.version, []).append((version, source))
    found: dict[TableName, dict[Position, Loss]] = {}
    for version in history.versions():
        loss = None if version.end is None else _loss(version, continued.get(version.id, []))
        if version.end is not None and loss is not None:
            found.setdefault((version.definition.database, version.definition.name), {})[version.end] = loss
    return found


def _loss(version: TableVersion, continued: list[tuple[TableVersion, RowSource]]) -> Loss | None:
    if not continued:
        return Loss(version.definition)
    (after, source), *others = continued
    part, old, new = source.conversion.removed, source.conversion.old, source.conversion.new
    if others or len(after.sources) > 1 or part is None or not part.inside or old.partitioning is None or \
            new.partitioning is None or replace(old, partitioning=None) != replace(new, partitioning=None):
        return None
    return Loss(old, part, tuple(one for one in old.partitioning.partitions if not new.partitioning.has(one.name)))


def divided_anew(history: SchemaHistory) -> Iterator[TableName]:
    """Yield the tables that the log divides in another way than they were at some time."""
    for version in history.versions():
        before = [one.before for one in history.redefinitions(version)]
        before += [source.conversion.old for source in version.sources]
        if any(one.partitioning != version.definition.partitioning for one in before):
            yield version.definition.database, version.definition.name
