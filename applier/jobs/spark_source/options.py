"""The request of a reader of the data source, from Spark's options.

A query's filters narrow the changes that are read. Spark applies all of them again: they only avoid decoding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from math import prod
from typing import Any

from applier.binlog.locating.gtid_choice import GtidChoice
from applier.errors import UsageError
from applier.io.encryption.keys import Keys
from applier.jobs.spark_source.since_4_0 import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)
from applier.mysql.type_registry import Family
from applier.mysql.values.time_zones import parse_datetime
from applier.option_texts import KeyValues, parse_size, parse_stop_position
from applier.options import ChangesOptions, CommitRange
from applier.schema.ddl.schema_changes import TableName
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.schema.table_parts import Column
from applier.snapshot import AS_DECIMAL
from applier.snapshot.files.unsigned_bigints import AS_UINT64

_KNOWN = ("path", "table", "tables", "columns", "base", "schema", "startposition", "stopposition", "stopgtid",
          "stopdatetime", "startdatetime", "gtids", "definefromlog", "ignoreforeignkeys", "complete", "unsignedbigint",
          "partitionbytes", "maxbytespertrigger", "keyring", "keyfile", "keyfilesecret")
_PARTITION_BYTES = "64M"


@dataclass(frozen=True)
class SourceOptions:
    """`table` None means all tables of `filter`, of these only the `named` ones if there are names, as in `_table`,
    with images as JSON. A task reads about `partition_bytes` of log, a micro-batch at most `trigger_bytes` (None: all
    of it). Only rows whose columns are `equal` to one of these values each are wanted."""

    changes: ChangesOptions
    table: TableName | None
    columns: tuple[str, ...] | None
    filter: TableFilter
    partition_bytes: int
    trigger_bytes: int | None
    named: frozenset[str] | None = None
    equal: tuple[tuple[str, tuple[int | str, ...]], ...] = ()


def parse(options: Mapping[str, str]) -> SourceOptions:
    """Spark's options, whose names come in any case. Raises UsageError for one that is unknown."""
    given = {name.lower(): value for name, value in options.items()}
    if unknown := [name for name in options if name.lower() not in _KNOWN]:
        raise UsageError(f"{unknown[0]!r} is not an option of this source", hint=f"they are {', '.join(_KNOWN)}")
    if "path" not in given:
        raise UsageError("no binlogs given", hint="load() takes a directory, files with commas between, or a glob")
    start, stop, time = given.get("startposition"), given.get("stopposition"), given.get("stopdatetime")
    begin, trigger = given.get("startdatetime"), given.get("maxbytespertrigger")
    return SourceOptions(
        ChangesOptions(
            Keys(_files(given, "keyring"), _files(given, "keyfile"), given.get("keyfilesecret")).of(
                given["path"].split(",")), given.get("base"), given.get("schema"),
            None if start is None else parse_stop_position(start), None if stop is None else parse_stop_position(stop),
            given.get("stopgtid"), None if time is None else parse_datetime(time), _flag(given, "definefromlog"),
            _flag(given, "ignoreforeignkeys"), _flag(given, "complete"), _unsigned_bigint(given),
            start_datetime=None if begin is None else parse_datetime(begin), gtids=given.get("gtids")),
        _table(given.get("table")), None if "columns" not in given else tuple(_names(given["columns"])),
        TableFilter(parse_table_list([given["tables"]] if "tables" in given else [])),
        parse_size(given.get("partitionbytes", _PARTITION_BYTES)), None if trigger is None else parse_size(trigger))


def _files(given: Mapping[str, str], name: str) -> list[str]:
    return given[name].split(",") if name in given else []


def _flag(given: Mapping[str, str], name: str) -> bool:
    text = given.get(name, "false").lower()
    if text not in ("true", "false"):
        raise UsageError(f"{name} cannot be {text!r}", hint="it is true or false")
    return text == "true"


def _unsigned_bigint(given: Mapping[str, str]) -> str:
    asked = given.get("unsignedbigint", AS_DECIMAL)
    if asked == AS_UINT64:
        raise UsageError("Spark has no type uint64", hint="unsignedBigint is decimal, or long where all values fit")
    if asked != AS_DECIMAL and "table" not in given:
        raise UsageError("unsignedBigint applies to the columns of one table, and images as JSON contain digits",
                         hint="name a table, or leave it out")
    return asked


def _names(text: str) -> Iterator[str]:
    return (name.strip() for name in text.split(","))


def _table(text: str | None) -> TableName | None:
    if text is None:
        return None
    names = parse_table_list([text])
    if len(names) != 1 or not all(isinstance(name, str) for name in names[0]):
        raise UsageError(f"{text!r} is not the name of a table", hint="write DATABASE.TABLE, or choose with tables")
    [(database, name)] = names
    return str(database), str(name)


_ALIKE = {Family.INTEGER: int, Family.TEXT: str}
"""Families of columns that are the same in Spark and in SQL, and the types of their values."""
_MOST_KEYS = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def narrowed(asked: SourceOptions, filters: Iterable[Filter]) -> SourceOptions:
    """The same without changes that cannot pass all of the filters."""
    for filter in filters:
        match filter:
            case EqualTo(("_table",), str(name)):
                asked = _of_tables(asked, {name})
            case In(("_table",), names):
                asked = _of_tables(asked, set(names))
            case EqualTo(("_gtid",), str(gtid)):
                asked = _of_transactions(asked, [gtid])
            case In(("_gtid",), gtids):
                asked = _of_transactions(asked, gtids)
            case (EqualTo((name,), value) | GreaterThan((name,), value) | GreaterThanOrEqual((name,), value)
                  | LessThan((name,), value) | LessThanOrEqual((name,), value)):
                asked = replace(asked, changes=replace(asked.changes, commits=_within(
                    asked.changes.commits, name, type(filter), value)))
        match filter:
            case EqualTo((name,), int() | str() as value):
                asked = replace(asked, equal=(*asked.equal, (name, (value,))))
            case In((name,), values) if all(isinstance(value, int | str) for value in values):
                asked = replace(asked, equal=(*asked.equal, (name, tuple(values))))
    return asked


def keys_of(columns: Sequence[Column], equal: Sequence[tuple[str, tuple[int | str, ...]]]) -> KeyValues | None:
    """Return the keys over these columns that rows with such values have; None if that is not said, or would be too
    many, or where Spark's values could mean something else in SQL."""
    known = dict(equal)
    if not columns or not all(column.name in known and column.type.entry.family in _ALIKE for column in columns):
        return None
    if not all(type(value) is _ALIKE[column.type.entry.family] for column in columns for value in known[column.name]):
        return None
    values = [known[column.name] for column in columns]
    return tuple(product(*values)) if prod(map(len, values)) <= _MOST_KEYS else None


def _of_tables(asked: SourceOptions, names: set[str]) -> SourceOptions:
    return replace(asked, named=frozenset(names if asked.named is None else asked.named & names))


def _of_transactions(asked: SourceOptions, gtids: Iterable[str | None]) -> SourceOptions:
    if asked.changes.gtids is not None or asked.changes.maybe_gtids is not None:  # some are chosen already
        return asked
    try:
        GtidChoice(text := ",".join(gtid for gtid in gtids if gtid is not None))
    except UsageError:  # no transaction has such a one
        return asked
    return replace(asked, changes=replace(asked.changes, maybe_gtids=text))


def _within(commits: CommitRange, name: str, kind: type[Filter], value: Any) -> CommitRange:
    """Return the commits of which a column is equal to a value, or above or below it."""
    if name == "_commit_version" and isinstance(value, int):
        first, last = "first_version", "last_version"
    elif name == "_commit_timestamp" and isinstance(value, datetime) and value.tzinfo is not None:
        first, last = "first_time", "last_time"
        value = (value - _EPOCH) // timedelta(microseconds=1)
    else:
        return commits
    if kind in (EqualTo, GreaterThan, GreaterThanOrEqual):
        commits = replace(commits, **{first: max(getattr(commits, first), value + (kind is GreaterThan))})
    if kind in (EqualTo, LessThan, LessThanOrEqual):
        commits = replace(commits, **{last: min(getattr(commits, last), value - (kind is LessThan))})
    return commits
