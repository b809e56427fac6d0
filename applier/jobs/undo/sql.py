"""The statements of an undo: one for each row, found by all of its values, each followed by one that stops the script
if it did not change exactly this row (UNDO-GUARD)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from applier.jobs.guarded_sql.script import Guard, Script, events_of, no_other_children
from applier.jobs.guarded_sql.set_statements import SetStatements, can_be_set
from applier.jobs.guarded_sql.table_statements import TableStatements
from applier.jobs.undo.table_undo import TableUndo
from applier.mysql.types import quote_name
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition

_FIRST = "-- Tables and partitions that are not there; an error further down leaves them as they are made here.\n"


def guards(tables: Sequence[TableUndo], definitions: Sequence[TableDefinition], *, checks_off: bool) -> list[Guard]:
    """Return the conditions that must hold before rows change, given all definitions that the log has."""
    parents = [(one.definition.database, one.definition.name) for one in tables if one.deleted or one.updated]
    return [*no_other_children(parents, definitions, checks_off=checks_off)]


def probes(tables: Sequence[TableUndo]) -> Iterator[str]:
    """Yield statements that are errors unless rows are as the log left them. Raises as `statements`."""
    for number, one in enumerate(tables):
        if not one.recreated:
            yield from _statements(number, one).probes()


def statements(tables: Sequence[TableUndo], what: str, comments: Iterable[str], guards: Sequence[Guard], *,
               checks_off: bool) -> Iterator[bytes]:
    """Return the statements, many at a time, and comments behind them; tables are in order, those that others refer to
    first. Raises SchemaError for a name or a text that a client could misread."""
    first = [f"{statement};\n" for one in tables for statement in one.statements]
    return Script(f"undo of {what}", "the log left it",
                  {(one.definition.database, one.definition.name): events_of(one.inserted, one.updated, one.deleted)
                   for one in tables},
                  [_statements(number, one) for number, one in enumerate(tables)],
                  [_FIRST, *first] if first else [], checks_off,
                  instead=", and the other format has no triggers", guards=guards, comments=[*comments]).text()


def _statements(number: int, one: TableUndo) -> TableStatements:
    if one.unknown is None and can_be_set(one.definition, one.key, one.rows, as_printed=False):
        return SetStatements(one.definition, one.key, one.batches, number)
    return TableStatements(one.definition, one.key, one.batches)


def checks(tables: Sequence[TableUndo], children: Sequence[TableDefinition], not_counted: Collection[TableName]
           ) -> Iterator[tuple[str, int]]:
    """Yield SELECTs to run afterwards, with their results: how many rows there are in tables whose rows are counted,
    and, of these children, that each row of them refers to one."""
    for one in tables:
        name = one.definition.database, one.definition.name
        if one.rows_after is not None and name not in not_counted:
            yield f"SELECT COUNT(*) FROM {_name(*name)}", one.rows_after
    changed = {(one.definition.database, one.definition.name) for one in tables}
    for child in children:
        for key in child.foreign_keys:
            if key.referenced and ((key.database, key.table) in changed or (child.database, child.name) in changed):
                pairs = [(quote_name(own), quote_name(other)) for own, other in
                         zip(key.columns, key.referenced, strict=True)]
                yield (f"SELECT COUNT(*) FROM {_name(child.database, child.name)} AS c WHERE "
                       + " AND ".join(f"c.{own} IS NOT NULL" for own, _ in pairs)
                       + f" AND NOT EXISTS (SELECT 1 FROM {_name(key.database, key.table)} AS p WHERE "
                       + " AND ".join(f"p.{other} = c.{own}" for own, other in pairs) + ")", 0)


def _name(database: str, table: str) -> str:
    return f"{quote_name(database)}.{quote_name(table)}"
