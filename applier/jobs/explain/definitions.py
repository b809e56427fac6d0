"""Where the definition of each table comes from: the positions, the statements, and their changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from applier.schema.definition import TableDefinition
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import BEFORE_THE_LOG, Position, TableVersion
from applier.schema.table_options import TABLE_OPTIONS, options_sql

_NOTHING = "nothing that is kept here"


@dataclasses.dataclass(frozen=True)
class DefinitionStep:
    """A step of a definition. place: the position from which rows see it ("file:pos"; "" before the log). statement:
    SQL, "" if the table was ended by one that names other tables, too. changes: notes for the user."""

    place: str
    statement: str
    changes: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class TableHistory:
    """A table under its last name, with all changes of its definition, in the log's order."""

    name: str
    steps: tuple[DefinitionStep, ...]


def definition_history(history: SchemaHistory, name_of_file: Callable[[int], str]) -> list[TableHistory]:
    """Return the histories of the replayed tables whose definitions the log changes, by name."""
    found = []
    for chain in history.chains():
        if not history.is_wanted(chain[-1]):
            continue
        steps = list(_steps(chain, history, name_of_file))
        if any(step.place for step in steps):
            found.append(TableHistory(chain[-1].definition.full_name, tuple(steps)))
    return sorted(found, key=lambda table: table.name)


def _steps(chain: list[TableVersion], history: SchemaHistory, name_of_file: Callable[[int], str]
           ) -> Iterable[DefinitionStep]:
    def place(position: Position) -> str:
        return "" if position == BEFORE_THE_LOG else f"{name_of_file(position[0])}:{position[1]}"

    before: TableDefinition | None = None
    for version in chain:
        redefined = history.redefinitions(version)
        first = redefined[0].before if redefined else version.definition
        changes = _made(first) if before is None else _differences(before, first)
        if version.conversion is not None and version.conversion.removed is not None:
            changes.append("rows of some partitions are removed")
        yield DefinitionStep(place(version.start), version.created_by, tuple(changes or [_NOTHING]))
        for number, step in enumerate(redefined, 1):
            after = redefined[number].before if number < len(redefined) else version.definition
            changes = _differences(step.before, after) or [_NOTHING]
            yield DefinitionStep(place(step.position), step.sql, tuple(changes))
        before = version.definition
    if chain[-1].end is not None:
        yield DefinitionStep(place(chain[-1].end), "", ("it is dropped, or recreated empty",))


def _made(definition: TableDefinition) -> list[str]:
    keys = [key.sql(definition.flavour) for key in definition.keys]
    return [f"{definition.full_name} with {len(definition.columns)} columns" + "".join(f", {key}" for key in keys)]


def _differences(old: TableDefinition, new: TableDefinition) -> list[str]:
    """Return the differences, one line each: names, columns, keys, constraints, and the table's options."""
    lines = [f"{old.full_name} is called {new.full_name}"] if old.full_name != new.full_name else []
    lines += _of_columns(old, new)
    lines += _of_sets("", [key.sql(old.flavour) for key in old.keys], [key.sql(new.flavour) for key in new.keys])
    lines += _of_sets("foreign key ", [key.name for key in old.foreign_keys], [key.name for key in new.foreign_keys])
    lines += _of_sets("", [check.sql() for check in old.checks], [check.sql() for check in new.checks])
    lines += _of_sets("", options_sql(old.options, TABLE_OPTIONS), options_sql(new.options, TABLE_OPTIONS))
    for what in ("charset", "collation", "engine"):
        if getattr(old, what) != getattr(new, what):
            lines.append(f"its {what} is {getattr(new, what)}, was {getattr(old, what)}")
    return lines


def _of_columns(old: TableDefinition, new: TableDefinition) -> list[str]:
    before = {column.name: column.sql(old.flavour) for column in old.columns}
    after = {column.name: column.sql(new.flavour) for column in new.columns}
    lines = [f"- {sql}" for name, sql in before.items() if name not in after]
    stay = [name for name in after if name in before]
    moved = stay != [name for name in before if name in after]
    for number, (name, sql) in enumerate(after.items()):
        if name not in before:
            place = "first" if number == 0 else f"after {new.columns[number - 1].name}"
            lines.append(f"+ {sql} ({place})")
        elif sql != before[name]:
            lines.append(f"{before[name]} becomes {sql}")
    if moved:
        lines.append(f"columns are in the order {', '.join(after)}")
    return lines


def _of_sets(kind: str, before: list[str], after: list[str]) -> list[str]:
    return [f"- {kind}{sql}" for sql in before if sql not in after] + [
        f"+ {kind}{sql}" for sql in after if sql not in before]
