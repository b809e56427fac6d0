"""What filters of a query say of which changes are read. All of them are left to Spark, too: these only spare decoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from math import prod
from typing import Any

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

from applier.binlog.locating.gtid_choice import GtidChoice
from applier.errors import UsageError
from applier.jobs.spark_source.options import SourceOptions
from applier.mysql.type_registry import Family
from applier.option_texts import KeyValues
from applier.options import CommitRange
from applier.schema.definition import Column

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
    """The keys over these columns that rows with such values have; None if that is not said, or would be too many, or
    where Spark's values could mean something else in SQL."""
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
    """The commits of which a column is equal to a value, or above or below it."""
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
