"""How a table is divided into partitions, as plain data, and how ALTER TABLE changes that.

Source: MySQL manual, "Partitioning" and "ALTER TABLE Partition Operations"; MariaDB's "Partitioning Tables".
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from applier.errors import SchemaError
from applier.mysql.names import folded
from applier.mysql.types import quote_name, quote_text

MAXVALUE, DEFAULT = "MAXVALUE", "DEFAULT"
SYSTEM_TIME, HISTORY, CURRENT = "SYSTEM_TIME", "HISTORY", "CURRENT"
BY_VALUES = frozenset({"RANGE", "LIST", "RANGE COLUMNS", "LIST COLUMNS"})
MAX_PARTITIONS = 8192
"""Subpartitions among them: both servers refuse more (1499)."""
_TOO_MANY, _NONE = 1499, 1504


Options: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values."""
PARTITION_OPTIONS: dict[str, Callable[[str], str]] = {
    "COMMENT": quote_text, "MAX_ROWS": str, "MIN_ROWS": str, "DATA DIRECTORY": quote_text,
    "INDEX DIRECTORY": quote_text, "TABLESPACE": quote_name}
"""The functions that make SQL of an option's value. The engine is the table's."""
PLACES = frozenset({"DATA DIRECTORY", "INDEX DIRECTORY", "TABLESPACE"})


class PartitionsRefused(SchemaError):
    """A number of partitions that no server allows."""


def checked_number(number: int) -> int:
    """Check a number of partitions. Raises PartitionsRefused."""
    if not 0 < number <= MAX_PARTITIONS:
        what = f"a table with {number} partitions, more than the {MAX_PARTITIONS} that a server allows" if number else \
            "a table with no partition"
        raise PartitionsRefused(what, errno=_TOO_MANY if number else _NONE)
    return number


@dataclass(frozen=True, slots=True)
class Partition:
    """`values`: of RANGE one tuple of the bounds that its rows stay below, of LIST a tuple for each value that it
    takes; each is SQL, MAXVALUE, or (MariaDB) DEFAULT; of SYSTEM_TIME it is HISTORY or CURRENT. None where rows are
    dealt out by a hash. `subpartitions` are their names, as far as the statement gives some. `options` are COMMENT and
    others (PARTITION_OPTIONS) with their values, of the partition and then, if any has some, of each subpartition."""

    name: str
    values: tuple[tuple[str, ...], ...] = ()
    subpartitions: tuple[str, ...] = ()
    options: tuple[Options, ...] = ()

    def sql(self, method: str, *, with_directories: bool = False) -> str:
        """Return the partition as in CREATE TABLE … PARTITION BY `method`; `with_directories` with the locations of its
        files, as on its own server."""
        text = f"PARTITION {quote_name(self.name)}"
        if method.startswith("RANGE"):
            bounds = ",".join(self.values[0])
            text += f" VALUES LESS THAN {bounds if bounds == MAXVALUE and method == 'RANGE' else f'({bounds})'}"
        elif method.startswith("LIST") and self.values == ((DEFAULT,),):
            text += " DEFAULT"
        elif method.startswith("LIST"):
            several = any(len(value) > 1 for value in self.values)
            items = (f"({','.join(value)})" if several else value[0] for value in self.values)
            text += f" VALUES IN ({','.join(items)})"
        elif method == SYSTEM_TIME:
            text += f" {self.values[0][0]}"
        own, *of_subpartitions = self.options or ((),)
        text += _options_sql(own, with_directories)
        if self.subpartitions:
            of_each = of_subpartitions or [()] * len(self.subpartitions)
            text += " (" + ", ".join(f"SUBPARTITION {quote_name(name)}{_options_sql(options, with_directories)}"
                                     for name, options in zip(self.subpartitions, of_each, strict=True)) + ")"
        return text


def _options_sql(options: Options, with_directories: bool) -> str:
    return "".join(f" {name} = {PARTITION_OPTIONS[name](value)}" for name, value in options
                   if with_directories or name not in PLACES)


@dataclass(frozen=True, slots=True)
class Partitioning:
    """`method`: RANGE, LIST, RANGE COLUMNS, LIST COLUMNS, HASH, LINEAR HASH, KEY, LINEAR KEY or SYSTEM_TIME, and its
    criterion: an `expression`, or `columns` (of KEY none: the primary key). Anything else, which can be kept but not
    followed, has its words in `other` alone. `subpartition_by` are the words of SUBPARTITION BY; `old_hash` is of a KEY
    with ALGORITHM=1. Of SYSTEM_TIME the expression is "", LIMIT n or INTERVAL n UNIT, and `start` and `step`, in
    seconds (since 1970 UTC), say which time the first partition is for, and how long it and each after it is; None
    where that is unknown."""

    method: str
    expression: str | None = None
    columns: tuple[str, ...] = ()
    partitions: tuple[Partition, ...] = ()
    subpartition_by: str = ""
    old_hash: bool = False
    other: str = ""
    start: int | None = None
    step: int | None = None

    def __post_init__(self) -> None:
        if self.partitions:
            checked_number(len(self.partitions))
        if self.method in BY_VALUES and not all(partition.values for partition in self.partitions):
            raise SchemaError(f"each partition by {self.method} needs VALUES")

    def stays_in(self, other: Partitioning | None) -> bool:
        """True if the other one has all rows in the same partitions: it may have more of them, for other values."""
        if other is None or self.method == SYSTEM_TIME:
            return self.method == SYSTEM_TIME
        return self == other or (self.method in BY_VALUES and replace(
            other, partitions=other.partitions[:len(self.partitions)]) == self)

    def sql(self) -> str:
        """The clause as in CREATE TABLE."""
        if self.other:
            return f"PARTITION BY {self.other}"
        if self.method == SYSTEM_TIME:
            return f"PARTITION BY SYSTEM_TIME{self._rotation()} ({self._partitions()})"
        by = self.expression if self.expression is not None else ",".join(map(quote_name, self.columns))
        text = f"PARTITION BY {self.method}{' ALGORITHM=1' * self.old_hash} ({by})"
        if self.subpartition_by:
            text += f" SUBPARTITION BY {self.subpartition_by}"
        if self.method not in BY_VALUES and self.has_numbers_for_names:
            return f"{text} PARTITIONS {len(self.partitions)}"
        return f"{text} ({self._partitions()})"

    def _partitions(self) -> str:
        return ", ".join(partition.sql(self.method) for partition in self.partitions)

    def _rotation(self) -> str:
        starts = ""
        if self.start is not None:
            starts = f" STARTS TIMESTAMP'{datetime.datetime.fromtimestamp(self.start, datetime.UTC):%Y-%m-%d %H:%M:%S}'"
        return f" {self.expression}{starts}" if self.expression else ""

    @property
    def has_numbers_for_names(self) -> bool:
        """True if the partitions have the names that the server gives by itself."""
        return all(partition == Partition(f"p{number}") for number, partition in enumerate(self.partitions))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all partitions."""
        return tuple(partition.name for partition in self.partitions)

    def has(self, name: str) -> bool:
        """True if one of the partitions has this name."""
        return any(folded(partition.name) == folded(name) for partition in self.partitions)

    def numbers_of(self, names: Iterable[str]) -> tuple[int, ...]:
        """The indexes of these partitions. Raises SchemaError for an unknown name."""
        known = {folded(partition.name): number for number, partition in enumerate(self.partitions)}
        try:
            return tuple(known[folded(name)] for name in names)
        except KeyError as error:
            raise SchemaError(f"it names partition {error.args[0]}, which is not known") from None

    def rows_of(self, names: Sequence[str]) -> PartRows:
        """The rows of these partitions or subpartitions. Raises SchemaError for an unknown name."""
        known = {folded(partition.name) for partition in self.partitions}
        if not self.subpartition_by or all(folded(name) in known for name in names):
            return PartRows(self, self.numbers_of(names))
        each = [[folded(name) for name in self.subpartitions_of(partition)] for partition in self.partitions]
        numbers = tuple(number * len(each[0]) + inner for name in map(folded, names)
                        for number, (partition, within) in enumerate(zip(self.partitions, each, strict=True))
                        for inner, part in enumerate(within) if name in (part, folded(partition.name)))
        if not numbers:
            raise SchemaError(f"it is about partition {', '.join(names)}, which is not known")
        return PartRows(self, numbers, of_subpartitions=True)

    @property
    def n_subpartitions(self) -> int:
        """The number of subpartitions of each partition."""
        named = next((len(partition.subpartitions) for partition in self.partitions if partition.subpartitions), 1)
        _, said, count = self.subpartition_by.rpartition("SUBPARTITIONS ")
        return int(count) if said else named

    def subpartitions_of(self, partition: Partition) -> Sequence[str]:
        """The names of the subpartitions; the server's own if the statement gave none."""
        return partition.subpartitions or [f"{partition.name}sp{number}" for number in range(self.n_subpartitions)]

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the parts in which rows lie, folded: of all subpartitions, or of the partitions if there are no
        subpartitions."""
        if not self.subpartition_by:
            return tuple(map(folded, self.names))
        return tuple(folded(name) for partition in self.partitions for name in self.subpartitions_of(partition))

    def number_of_place(self, place: str) -> int:
        """The index of one of `places`. Raises SchemaError for an unknown name, as a damaged snapshot may have it."""
        try:
            return self.places.index(place)
        except ValueError:
            raise SchemaError(f"rows lie in partition {quote_name(place)}, which is not known") from None

    def without(self, names: Iterable[str]) -> Partitioning:
        """The partitioning after DROP PARTITION."""
        dropped = self.numbers_of(names)
        if self.start is not None and self.step is not None:  # the server drops the oldest ones only
            return replace(self, start=self.start + len(dropped) * self.step)._without(dropped)
        return self._without(dropped)

    def _without(self, dropped: tuple[int, ...]) -> Partitioning:
        return self._with(partition for number, partition in enumerate(self.partitions) if number not in dropped)

    def with_more(self, added: Sequence[Partition]) -> Partitioning:
        """The partitioning after ADD PARTITION. The partition of current rows stays the last one."""
        if self.method == SYSTEM_TIME:
            return self._with([*self.partitions[:-1], *added, self.partitions[-1]])
        return self._with([*self.partitions, *added])

    def with_as_many_more(self, n: int) -> Partitioning:
        """The partitioning after ADD PARTITION PARTITIONS n, and, for a negative n, after COALESCE PARTITION, which
        removes the last ones."""
        if n < 0:
            return self._with(self.partitions[:n])
        first = len(self.partitions)
        if self.method == SYSTEM_TIME:  # the partition of current rows does not count, nor do numbers that are taken
            first = next(number for number in range(first - 1, 2 * first)
                         if not any(self.has(f"p{taken}") for taken in range(number, number + n)))
            return self.with_more([Partition(f"p{number}", ((HISTORY,),)) for number in range(first, first + n)])
        return self.with_more([Partition(f"p{number}") for number in range(first, first + n)])

    def reorganized(self, names: Sequence[str], into: Sequence[Partition]) -> Partitioning:
        """The partitioning after REORGANIZE PARTITION: the named partitions, which are adjacent, become these."""
        replaced = set(self.numbers_of(names))
        first = min(replaced)
        kept = [partition for number, partition in enumerate(self.partitions) if number not in replaced]
        return self._with([*kept[:first], *into, *kept[first:]])

    def _with(self, partitions: Iterable[Partition]) -> Partitioning:
        return replace(self, partitions=tuple(partitions))


@dataclass(frozen=True, slots=True)
class PartRows:
    """The rows of some of a table's partitions, by their numbers, or, if `inside` is not set, of all others;
    `of_subpartitions`: the numbers are those of subpartitions, counted through all partitions."""

    partitioning: Partitioning
    numbers: tuple[int, ...]
    inside: bool = True
    of_subpartitions: bool = False

    def holds(self, place: str) -> bool:
        """Return whether they are the rows in one of `Partitioning.places`. Raises SchemaError for an unknown one."""
        number = self.partitioning.number_of_place(place)
        within = 1 if self.of_subpartitions else self.partitioning.n_subpartitions
        return (number // within in self.numbers) == self.inside

    def among(self, more: Partitioning) -> PartRows:
        """The rows of these partitions where there are more of them. Raises SchemaError for one that does not exist."""
        n = self.partitioning.n_subpartitions if self.of_subpartitions else 1
        names = [self.partitioning.partitions[number // n].name for number in self.numbers]
        numbers = (first * n + number % n for first, number in zip(more.numbers_of(names), self.numbers, strict=True))
        return replace(self, partitioning=more, numbers=tuple(numbers))
