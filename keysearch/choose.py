"""Which of a table's keys finds a row, given the columns that its before-image has.

The order is find_row's (WL#5092): the primary key, unique keys without nullable columns, other keys, else a scan of the
table; a key counts only if the before-image has all its columns. Among keys of one rank the server takes the first in
the order in which it keeps them, which is not quite that of the definition (see `_rank`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class ColumnInfo:
    """What matters of a column here."""

    name: str
    nullable: bool


@dataclass(frozen=True)
class KeyInfo:
    """A key as the table's definition has it.

    kind: "primary", "unique", "key", "fulltext" or "spatial". parts: (index of the column, or None for an expression;
    characters or bytes of it that are in the key, or None for all). visible: whether the optimizer may use it; a
    replica searches by invisible keys too.
    """

    name: str
    kind: Literal["primary", "unique", "key", "fulltext", "spatial"]
    parts: tuple[tuple[int | None, int | None], ...]
    visible: bool = True


@dataclass(frozen=True)
class Choice:
    """How rows are found, and why so.

    kind: "primary" or "unique": the row found is the row; "key" or "scan": the row must also equal the whole
    before-image. name: the key's, "" for a scan. columns: indexes of the columns to search by, for a scan those that
    the before-image has. prefixes: for each of them how much of it is in the key, or None for all. reason: for people.
    """

    kind: Literal["primary", "unique", "key", "scan"]
    name: str
    columns: tuple[int, ...]
    reason: str
    prefixes: tuple[int | None, ...] = field(default=())

    @property
    def is_exact(self) -> bool:
        """Whether the row found is the row, without comparing the rest."""
        return self.kind in ("primary", "unique")


def choose_key(columns: Sequence[ColumnInfo], keys: Iterable[KeyInfo], present: set[int] | None) -> Choice:
    """The key that finds a row of a table with these columns and keys (rule FIND).

    present: indexes of the columns in the before-image, None for all. With None, what a primary or unique choice names
    is also the table's primary key equivalent (rule PKE).
    """
    present = set(range(len(columns))) if present is None else present
    refused = []
    for key in sorted(keys, key=lambda key: _rank(key, columns)):
        why_not = _unusable(key, columns, present)
        if why_not:
            refused.append(f"{_called(key)} {why_not}")
            continue
        searched = tuple(column for column, _ in key.parts)
        names = ", ".join(columns[column].name for column in searched)
        reason = f"{_called(key)} ({names})" + "".join(f"; {why}" for why in refused)
        kind = "key" if key.kind == "unique" and _nullable(key, columns) else key.kind
        if kind == "key":
            reason += "; it is not unique, so the rest of the before-image is compared"
        return Choice(kind, key.name, searched, reason, tuple(prefix for _, prefix in key.parts))
    scanned = tuple(sorted(present))
    reason = "no key can be used: " + "; ".join(refused) if refused else "the table has no key"
    return Choice("scan", "", scanned, reason, (None,) * len(scanned))


def _rank(key: KeyInfo, columns: Sequence[ColumnInfo]) -> tuple:
    """The order in which MySQL keeps a table's keys, whatever the definition's: primary, unique without nullable
    columns, other unique, plain; among the unique ones those of whole columns first. Sorting keeps the definition's
    order else."""
    unique = key.kind in ("primary", "unique")
    has_prefix = any(prefix is not None for _, prefix in key.parts)
    return key.kind != "primary", not unique, unique and _nullable(key, columns), unique and has_prefix


def _nullable(key: KeyInfo, columns: Sequence[ColumnInfo]) -> bool:
    return any(column is None or columns[column].nullable for column, _ in key.parts)


def _unusable(key: KeyInfo, columns: Sequence[ColumnInfo], present: set[int]) -> str | None:
    if key.kind in ("fulltext", "spatial"):
        return "cannot find single rows"
    if any(column is None for column, _ in key.parts):
        return "has an expression, which no row image holds"
    missing = [columns[column].name for column, _ in key.parts if column not in present]
    if missing:
        return f"needs {', '.join(missing)}, which the before-image lacks"
    return None


def _called(key: KeyInfo) -> str:
    if key.kind == "primary":
        return "primary key"
    return f"{'key' if key.kind == 'key' else key.kind + ' key'} {key.name}"
