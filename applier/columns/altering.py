"""The ALTER TABLEs that turn one definition of a table into another one, if rows keep all of their columns.

Parts that may conflict with new rows are removed first; the rest is added when the rows have their new values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from applier.columns.definition_differences import (
    checks_of,
    collation_of,
    is_made,
    of_column,
    same_columns,
    same_foreign_key,
    same_key,
    same_partitioning,
    shown_options,
)
from applier.mysql.names import folded
from applier.mysql.types import quote_name
from applier.schema.definition import TableDefinition
from applier.schema.table_options import NUMBER, TABLE_OPTIONS, TEXT, options_sql
from applier.schema.table_parts import Column, Key

_BACK_BY_DEFAULT = frozenset({"ROW_FORMAT", "PACK_KEYS", "STATS_PERSISTENT", "STATS_AUTO_RECALC", "STATS_SAMPLE_PAGES"})


@dataclass(frozen=True)
class Alters:
    """ALTER TABLEs to run before rows change, and those to run after; and descriptions of the data that they lose."""

    before_rows: tuple[str, ...]
    after_rows: tuple[str, ...]
    lost: tuple[str, ...]


def alters(before: TableDefinition, after: TableDefinition) -> Alters | None:
    """Return the ALTER TABLEs that turn one definition into another without a change of columns, their types or the
    primary key. None if that takes a new table: these differ, or an option cannot be reset."""
    primary = before.primary_key, after.primary_key
    if not same_columns(before, after) or before.versioning != after.versioning or before.flavour != after.flavour or (
            (primary[0] is None) != (primary[1] is None)
            or (primary[0] is not None and primary[1] is not None
                and not same_key(primary[0], before, primary[1], after))):
        return None
    options = _options(before, after)
    if options is None:
        return None
    made = _Clauses(before, after)
    first, last = [*made.dropped(), *made.nullable()], [*made.keys(), *made.columns(), *made.added(), *options]
    table = f"ALTER TABLE {quote_name(after.database)}.{quote_name(after.name)} "
    undivided, divided = _partitions(before, after)
    return Alters((*(table + clause for clause in undivided), *((table + ", ".join(first),) if first else ())),
                  (*((table + ", ".join(last),) if last else ()), *(table + clause for clause in divided)),
                  tuple(made.lost()))


class _Clauses:
    """The clauses for two definitions."""

    def __init__(self, before: TableDefinition, after: TableDefinition) -> None:
        self.before, self.after = before, after
        old, new = ({folded(key.name): key for key in side.keys if key.kind != "primary"} for side in (before, after))
        self.gone = [key for name, key in old.items() if not is_made(key, before, after) and not (
            name in new and same_key(key, before, new[name], after))]
        self.new = [key for name, key in new.items() if not is_made(key, after, before) and not (
            name in old and same_key(old[name], before, key, after))]
        own, other = list(before.foreign_keys), list[str]()
        for foreign in after.foreign_keys:
            found = next((one for one in own if same_foreign_key(one, before, foreign, after)), None)
            if found is None:
                other.append(f"ADD {foreign.sql()}")
            else:
                own.remove(found)
        self.foreign_gone, self.foreign_new = own, other
        checks = checks_of(before), checks_of(after)
        self.checks_gone = [check for meaning, check in checks[0].items() if meaning not in checks[1]]
        self.checks_new = [check for meaning, check in checks[1].items() if meaning not in checks[0]]

    def dropped(self) -> Iterator[str]:
        """Yield the objects that may conflict with rows, or with a key that is dropped."""
        yield from (f"DROP FOREIGN KEY {quote_name(one.name)}" for one in self.foreign_gone)
        what = "CONSTRAINT" if self.before.flavour == "mariadb" else "CHECK"
        yield from (f"DROP {what} {quote_name(one.name)}" for one in self.checks_gone)
        yield from _drop(key for key in self.gone if key.kind == "unique")

    def nullable(self) -> Iterator[str]:
        """Yield the clauses for columns that may be NULL afterwards."""
        for old, new in self._pairs():
            if new.nullable and not old.nullable:
                yield f"MODIFY COLUMN {new.sql(self.after.flavour)}"

    def keys(self) -> Iterator[str]:
        """Yield the clauses that drop other keys."""
        yield from _drop(key for key in self.gone if key.kind != "unique")

    def columns(self) -> Iterator[str]:
        """Yield columns that differ, or have another position."""
        moves = [folded(one.name) for one in self.before.columns] != [folded(one.name) for one in self.after.columns]
        previous = ""
        for old, new in self._pairs():
            position = f" AFTER {quote_name(previous)}" if previous else " FIRST"
            is_done = new.nullable and not old.nullable  # by the first statement
            if moves or (of_column(old, new, self.before, self.after) and not is_done):
                yield f"MODIFY COLUMN {new.sql(self.after.flavour)}{position * moves}"
            previous = new.name

    def added(self) -> Iterator[str]:
        """Yield the clauses that add keys and constraints."""
        yield from (f"ADD {key.sql(self.after.flavour)}" for key in self.new)
        yield from (f"ADD {check.sql()}" for check in self.checks_new)
        yield from self.foreign_new

    def lost(self) -> Iterator[str]:
        """Yield the data that is lost, for people."""
        yield from (f"key {key.name}" for key in self.gone)
        yield from (f"foreign key {one.name}" for one in self.foreign_gone)
        yield from (f"CHECK {one.name}" for one in self.checks_gone)

    def _pairs(self) -> Iterator[tuple[Column, Column]]:
        for new in self.after.columns:
            yield self.before.column(new.name), new


def _drop(keys: Iterable[Key]) -> Iterator[str]:
    return (f"DROP KEY {quote_name(key.name)}" for key in keys)


def _options(before: TableDefinition, after: TableDefinition) -> list[str] | None:
    """Return the options that differ; None where one cannot be taken back."""
    found = []
    if None not in (before.engine, after.engine) and str(before.engine).lower() != str(after.engine).lower():
        found.append(f"ENGINE={after.engine}")
    if collation_of(before) != collation_of(after):
        found.append(f"DEFAULT CHARSET={after.charset} COLLATE={collation_of(after)}")
    old, new = shown_options(before), shown_options(after)
    found += options_sql(tuple((name, value) for name, value in after.options
                               if name in new and old.get(name) != new[name]), TABLE_OPTIONS)
    for name in old:
        if name not in new:
            kind = TABLE_OPTIONS[name]
            if name not in _BACK_BY_DEFAULT and kind not in (NUMBER, TEXT):
                return None
            found.append(f"{name}={'DEFAULT' if name in _BACK_BY_DEFAULT else chr(39) * 2 if kind == TEXT else 0}")
    return found


def _partitions(before: TableDefinition, after: TableDefinition) -> tuple[list[str], list[str]]:
    """Return the clauses to run before and after all others: partitions may be in the way of rows, and of keys."""
    old, new = before.partitioning, after.partitioning
    if old is not None and new is not None and same_partitioning(old, before, new, after):
        return [], []
    return ["REMOVE PARTITIONING"] * (old is not None), [] if new is None else [new.sql()]
