"""Compares two definitions of a table by meaning: as a log's CREATE TABLE has it, and as a server shows it.

A server shows more than was written: DEFAULT NULL, defaults as a column of that type has them, display widths, an
index that a foreign key needs, names of its own for constraints, partition bounds as values. AUTO_INCREMENT's next
number, the order of keys and an engine that is not named make no difference. Seen on MySQL 9.7, MariaDB 10.11 and 11.8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import pyarrow as pa

from applier.columns.defaults import default_scalar, is_variable
from applier.errors import NotComputable, SchemaError
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.character_sets.collations import DEFAULT_COLLATIONS, default_collation
from applier.mysql.names import folded
from applier.mysql.session import Session
from applier.mysql.type_registry import Family
from applier.mysql.types import ColumnType
from applier.schema.checks import Check
from applier.schema.definition import TableDefinition
from applier.schema.foreign_keys import ForeignKey
from applier.schema.key_infos import is_hashed
from applier.schema.partitions import DEFAULT, MAXVALUE, PLACES, Partition, Partitioning
from applier.schema.table_options import TABLE_OPTIONS, TEXT
from applier.schema.table_parts import Column, Default, Key
from applier.sql.evaluator import evaluate, no_columns
from applier.sql.same_expressions import literal_of, normal_form, same_expressions

_ZEROFILL_WIDTHS = {"tinyint": 3, "smallint": 5, "mediumint": 8, "int": 10, "bigint": 20}
_SHOWN_AS_ZERO = frozenset({"PACK_KEYS", "STATS_PERSISTENT", "STATS_AUTO_RECALC", "TRANSACTIONAL", "PAGE_COMPRESSED"})
"""Options for which 0 differs from the absence of the option."""
_MOST_ZONE_SECONDS, _ZONE_STEP = 14 * 3600, 900
"""The furthest that time zones are from UTC, which is in steps of a quarter of an hour."""


def differences(before: TableDefinition, after: TableDefinition) -> tuple[str, ...]:
    """Return the differences, for people, a text for each column, key and option; none if both mean the same."""
    return (*_of_columns(before, after), *_of_keys(before, after), *_of_foreign_keys(before, after),
            *_of_checks(before, after), *_of_options(before, after))


def same_columns(before: TableDefinition, after: TableDefinition) -> bool:
    """Return whether the two have the same columns for rows: statements about rows of one fit the other."""
    sides = [{folded(column.name): (_type(column.type, definition.flavour), column.generated)
              for column in definition.columns} for definition in (before, after)]
    return sides[0] == sides[1]


def _of_columns(before: TableDefinition, after: TableDefinition) -> Iterator[str]:
    old, new = ({folded(column.name): column for column in side.columns} for side in (before, after))
    for name, column in new.items():
        if name not in old:
            yield f"{column.name} was added"
        elif note := of_column(old[name], column, before, after):
            yield note
    yield from (f"{column.name} was dropped" for name, column in old.items() if name not in new)
    if [name for name in old if name in new] != [name for name in new if name in old]:
        yield "its columns are in another order"


def of_column(old: Column, new: Column, before: TableDefinition, after: TableDefinition) -> str:
    """Return what differs between a column before and after, for people; "" if nothing does."""
    if _type(old.type, before.flavour) != _type(new.type, after.flavour):
        types = old.type.sql(before.flavour), new.type.sql(after.flavour)
        return f"{new.name} is {types[1]}, and was {types[0]}"
    same = {
        "name": old.name == new.name, "NOT NULL": old.nullable == new.nullable,
        "generated": old.generated == new.generated,
        "expression": same_expressions(_shown(old.expression or ""), _shown(new.expression or "")),
        "default": _same_default(old, new, before, after), "ON UPDATE": old.on_update == new.on_update,
        "AUTO_INCREMENT": old.auto_increment == new.auto_increment, "INVISIBLE": old.invisible == new.invisible,
        "comment": _shown(old.comment) == _shown(new.comment),
        "CHECK": same_expressions(_shown(old.check or ""), _shown(new.check or ""))}
    return f"{new.name} was altered ({', '.join(altered)})" \
        if (altered := [what for what, is_same in same.items() if not is_same]) else ""


def _type(kind: ColumnType, flavour: str) -> ColumnType:
    """Return the type without the parts that change no value, or that a server does not show."""
    if kind.entry.family is Family.INTEGER:
        width = kind.length or _ZEROFILL_WIDTHS[kind.base] if kind.zerofill else None
        return replace(kind, length=width)
    return replace(kind, srid=None if flavour == "mariadb" else kind.srid, members=tuple(map(_shown, kind.members)))


def _same_default(old: Column, new: Column, before: TableDefinition, after: TableDefinition) -> bool:
    if (old.generated and new.generated) or (old.auto_increment and new.auto_increment):
        return True
    one, other = _literal(old, before.flavour), _literal(new, after.flavour)
    if one == other or one is None or other is None:
        return one == other
    if "local" in (one.kind, other.kind):
        return _in_some_zone(one.text, other.text)
    old, new = replace(old, default=one), replace(new, default=other)
    if not is_variable(old) and not is_variable(new):
        try:
            values = default_scalar(old, before), default_scalar(new, after)
        except SchemaError:
            pass  # a function that is not computed
        else:
            return bool(values[0].equals(values[1])) or (
                new.type.base == "float" and len({f"{value.as_py():.6g}" for value in values}) == 1)  # as shown
    return same_expressions(_sql(one), _sql(other))


def _literal(column: Column, flavour: str) -> Default | None:
    """Return the default, a literal in parentheses as a literal, and bytes of text as text; none for DEFAULT NULL."""
    default = column.default
    literal = literal_of(default.text) if default is not None and default.kind == "expression" else None
    if literal is not None and literal.kind in ("string", "number", "null"):
        default = Default(literal.kind, literal.text)
    if default is None or default.kind == "null":
        return None
    if default.kind == "bytes" and column.type.charset is not None:
        try:
            text = to_utf8(pa.array([bytes.fromhex(default.text)]), column.type.charset)[0].as_py()
        except (NotComputable, ValueError):
            return default
        return Default("string", text)
    return replace(default, text=_shown(default.text)) if flavour == "mariadb" else default  # MySQL shows bytes


def _shown(text: str) -> str:
    """Return the text as SHOW CREATE TABLE has it, without characters beyond the first plane."""
    return re.sub("[\U00010000-\U0010ffff]", "?", text)


def _sql(default: Default) -> str:
    return default.text if default.kind in ("expression", "now", "number") else default.sql()


def _in_some_zone(one: str, other: str) -> bool:
    """Return whether two times are one in two time zones: a log may not say that of the server."""
    try:
        between = datetime.fromisoformat(one) - datetime.fromisoformat(other)
    except ValueError:
        return one == other
    return _is_zone(between.total_seconds())


def _is_zone(seconds: float) -> bool:
    return abs(seconds) <= _MOST_ZONE_SECONDS and seconds % _ZONE_STEP == 0


# ---- keys and foreign keys


def _of_keys(before: TableDefinition, after: TableDefinition) -> Iterator[str]:
    old, new = ({folded(key.name): key for key in side.row_keys} for side in (before, after))
    for name, key in new.items():
        if name not in old:
            if not is_made(key, after, before):
                yield f"key {key.name} was added"
        elif not same_key(old[name], before, key, after):
            yield f"key {key.name} was altered"
    yield from (f"key {key.name} was dropped" for name, key in old.items()
                if name not in new and not is_made(key, before, after))


def same_key(old: Key, before: TableDefinition, new: Key, after: TableDefinition) -> bool:
    """MariaDB shows no direction in a hashed key, and a prefix of its own of a long text in a key without one."""
    sides = [[(part.column and folded(part.column), part.descending and not is_hashed(side, key),
               part.expression and normal_form(part.expression)) for part in key.parts]
             for key, side in ((old, before), (new, after))]
    if (old.kind, old.visible, sides[0]) != (new.kind, new.visible, sides[1]):
        return False
    return all(one.length == other.length or (None in (one.length, other.length) and new.kind == "key"
                                              and after.flavour == "mariadb" and other.column is not None
                                              and after.column(other.column).type.entry.prefix)
               for one, other in zip(old.parts, new.parts, strict=True))


def is_made(key: Key, definition: TableDefinition, other: TableDefinition) -> bool:
    """Return True if a key is one that the server made for a foreign key, which the other has without that key."""
    columns = _plain_columns(key)
    if key.kind != "key" or columns not in [_folded(foreign.columns) for foreign in definition.foreign_keys]:
        return False
    return columns in [_folded(foreign.columns) for foreign in other.foreign_keys] and not any(
        _plain_columns(one)[:len(columns)] == columns for one in other.keys if one.kind in ("primary", "unique", "key"))


def _plain_columns(key: Key) -> tuple[str, ...]:
    """Return the key's columns in lower case, up to the first part that is not a whole column."""
    found: list[str] = []
    for part in key.parts:
        if part.column is None or part.length is not None:
            break
        found.append(folded(part.column))
    return tuple(found)


def _folded(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(folded(name) for name in names)


def _of_foreign_keys(before: TableDefinition, after: TableDefinition) -> Iterator[str]:
    old, new = list(before.foreign_keys), []
    for key in after.foreign_keys:
        found = next((one for one in old if same_foreign_key(one, before, key, after)), None)
        if found is None:
            new.append(key)
        else:
            old.remove(found)
    yield from (f"foreign key {key.name} was added" for key in new)
    yield from (f"foreign key {key.name} was dropped" for key in old)


def same_foreign_key(old: ForeignKey, before: TableDefinition, new: ForeignKey, after: TableDefinition) -> bool:
    """Without `referenced`, a key refers to the other table's primary key, which is unknown here."""
    if old.referenced and new.referenced and _folded(old.referenced) != _folded(new.referenced):
        return False
    return all((_folded(key.columns), key.database, key.table, key.on_delete, key.on_update, _given_name(key, own)) == (
        _folded(old.columns), old.database, old.table, old.on_delete, old.on_update, _given_name(old, before))
        for key, own in ((new, after),))


def _given_name(key: ForeignKey, definition: TableDefinition) -> str:
    """Return the name of a foreign key; "" for one that the server made."""
    made = re.fullmatch(rf"{re.escape(definition.name)}_ibfk_\d+", key.name, re.IGNORECASE)
    return "" if made else folded(key.name)


# ---- constraints, options and partitions


def _of_checks(before: TableDefinition, after: TableDefinition) -> Iterator[str]:
    """Compare constraints by their meaning; names count only if users gave them."""
    old, new = map(checks_of, (before, after))
    yield from (f"CHECK {check.name} was added" for meaning, check in new.items() if meaning not in old)
    yield from (f"CHECK {check.name} was dropped" for meaning, check in old.items() if meaning not in new)


def checks_of(definition: TableDefinition) -> dict[object, Check]:
    """Return a table's constraints by their meaning."""
    return {(_given_check_name(check, definition), normal_form(_shown(check.expression)), check.enforced): check
            for check in definition.checks}


def _given_check_name(check: Check, definition: TableDefinition) -> str:
    """Return the name of a constraint; "" for one that the server made."""
    made = re.fullmatch(rf"({re.escape(definition.name)}_chk_|CONSTRAINT_)\d+", check.name, re.IGNORECASE)
    return "" if made else folded(check.name)


def _of_options(before: TableDefinition, after: TableDefinition) -> Iterator[str]:
    engines = before.engine, after.engine
    if None not in engines and str(engines[0]).lower() != str(engines[1]).lower():
        yield f"the engine is {engines[1]}, and was {engines[0]}"
    charsets = [collation_of(side) for side in (before, after)]
    if charsets[0] != charsets[1]:
        yield f"the default collation is {charsets[1]}, and was {charsets[0]}"
    old, new = map(shown_options, (before, after))
    yield from (f"{name} is {new.get(name, 'not set')}, and was {old.get(name, 'not set')}"
                for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name))
    if before.versioning != after.versioning:
        yield "its system versioning was altered"
    sides = before.partitioning, after.partitioning
    if (sides[0] is None) != (sides[1] is None):
        yield "its partitions were " + ("added" if sides[0] is None else "dropped")
    elif sides[0] is not None and sides[1] is not None and not same_partitioning(sides[0], before, sides[1], after):
        yield "its partitions were altered"


def shown_options(definition: TableDefinition) -> dict[str, str]:
    """Return the options as in SHOW CREATE TABLE: without those that repeat the default, as DYNAMIC rows of InnoDB, the
    usual innodb_default_row_format."""
    return {name: _shown(value) if TABLE_OPTIONS[name] == TEXT else value.upper()
            for name, value in definition.options
            if value.upper() not in ("DEFAULT", "DYNAMIC") and (value != "0" or name in _SHOWN_AS_ZERO)}


def collation_of(definition: TableDefinition) -> str:
    """Return the default collation of a table."""
    return definition.collation or default_collation(definition.charset, DEFAULT_COLLATIONS[definition.flavour])


def same_partitioning(old: Partitioning, before: TableDefinition, new: Partitioning, after: TableDefinition) -> bool:
    """Return True if two tables are divided in the same way."""
    if old.other or new.other or len(old.partitions) != len(new.partitions):
        return normal_form(old.other) == normal_form(new.other) and len(old.partitions) == len(new.partitions)
    starts = {by.start for by in (old, new)} - {None}
    return _divided(old, before) == _divided(new, after) and len(starts) < 2 and all(
        map(_same_partition, old.partitions, new.partitions))


def _divided(by: Partitioning, definition: TableDefinition) -> object:
    """By what rows are divided; KEY () is by the primary key."""
    primary = definition.primary_key
    columns = by.columns or tuple(part.column or "" for part in (primary.parts if primary else ()))
    names = [[*map(folded, by.subpartitions_of(partition))] for partition in by.partitions]
    return (by.method, by.expression is not None and normal_form(by.expression),
            () if by.expression is not None else _folded(columns), by.old_hash, by.step,
            normal_form(re.sub(r"\s*SUBPARTITIONS \d+$", "", by.subpartition_by)), by.subpartition_by and names)


def _same_partition(old: Partition, new: Partition) -> bool:
    if folded(old.name) != folded(new.name) or _options(old) != _options(new) or \
            len(old.values) != len(new.values):
        return False
    sides = [sorted(partition.values, key=lambda value: repr(tuple(map(_bound, value)))) for partition in (old, new)]
    return all(len(one) == len(other) and all(map(_same_bound, one, other))
               for one, other in zip(*sides, strict=True))


def _options(partition: Partition) -> object:
    return [[option for option in options if option[0] not in PLACES] for options in partition.options]


def _same_bound(one: str, other: str) -> bool:
    values = _bound(one), _bound(other)
    if "UNIX_TIMESTAMP" in f"{one} {other}".upper() and all(re.fullmatch(r"\d+(\.\d+)?", value) for value in values):
        return _is_zone(float(values[0]) - float(values[1]))
    return values[0] == values[1]


def _bound(sql: str) -> str:
    """Return a bound as the text of its value; if that is unknown, of its form."""
    if sql.upper() in (MAXVALUE, DEFAULT):
        return sql.upper()
    try:
        value = evaluate(sql, no_columns, 1, Session(time_zone="+00:00")).values[0].as_py()
    except NotComputable:
        return repr(normal_form(sql))
    return str(value)
