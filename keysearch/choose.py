"""Which of a table's keys finds a row, given the columns that its before-image has.

The order is find_row's (WL#5092): the primary key, unique keys without nullable columns, other keys, else a scan of the
table; a key counts only if the before-image has all its columns. Among keys of one rank the server takes the first in
the order in which it keeps them, which is not quite that of the definition (see `_rank`).

Where the servers differ, and what they cannot do, as MySQL 9.7 and MariaDB 10.11 showed it:

    invisible keys      MySQL searches by those that are unique without nullable columns only; MariaDB by all
    unique keys with nullable columns   MySQL compares the whole before-image; MariaDB takes what the first of them
                        finds, unless the before-image has a NULL in it
    several plain keys  MySQL takes the first; MariaDB that of the best cardinality, which no log tells: here the first
    FULLTEXT, functional keys   neither searches by them
    SPATIAL keys        both try, and find nothing (1032): here they are skipped, and the row is found
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

PathKind = Literal["primary", "unique", "key", "scan"]


@dataclass(frozen=True)
class ColumnInfo:
    """A column, as far as it matters here. stored: it has a value to search by (a snapshot has no VIRTUAL ones)."""

    name: str
    nullable: bool
    stored: bool = True


@dataclass(frozen=True)
class KeyInfo:
    """A key as the table's definition has it.

    kind: "primary", "unique", "key", or one that cannot find single rows ("fulltext", "spatial", "vector"). parts:
    (index of the column, or None for an expression; characters or bytes of it that are in the key, or None for all).
    visible: False for an INVISIBLE (MariaDB: IGNORED) key.
    """

    name: str
    kind: str
    parts: tuple[tuple[int | None, int | None], ...]
    visible: bool = True

    @property
    def columns(self) -> tuple[int, ...] | None:
        """Indexes of its columns; None if a part is an expression."""
        columns = tuple(column for column, _ in self.parts if column is not None)
        return columns if len(columns) == len(self.parts) else None


@dataclass(frozen=True)
class AccessPath:
    """How rows are found, and why.

    kind: "primary" or "unique" find the row itself; for "key" or "scan" a row must also equal the whole before-image.
    name: the key's, "" for a scan. columns: indexes of the columns to search by, for a scan those that the before-image
    has. prefixes: for each of them how much of it is in the key, or None for all. reason: for people. passed_over: why
    each key before this one was not used, for people. uncompared: stored columns in which rows that match may differ,
    since the before-image does not have them; none for "primary" and "unique". unless_null: a "key" that finds the row
    itself if the before-image has no NULL in it (MariaDB).
    """

    kind: PathKind
    name: str
    columns: tuple[int, ...]
    reason: str
    prefixes: tuple[int | None, ...] = ()
    passed_over: tuple[str, ...] = ()
    uncompared: tuple[int, ...] = ()
    unless_null: bool = False

    @property
    def is_exact(self) -> bool:
        """True if the key finds the row itself, without comparing the rest."""
        return self.kind in ("primary", "unique")

    @property
    def is_ambiguous(self) -> bool:
        """True if rows that differ may match: the first in the table's order is taken, and another one may have been
        meant. Which of several equal rows is taken does not matter."""
        return bool(self.columns and self.uncompared)

    @property
    def cost(self) -> Literal["one row", "candidates", "all rows", "none"]:
        """The rows that a server reads to find a row; "none" if the before-image has nothing to search by (IDX-R2)."""
        if self.is_exact:
            return "one row"
        return "candidates" if self.kind == "key" else "all rows" if self.columns else "none"


def choose_access_path(columns: Sequence[ColumnInfo], keys: Iterable[KeyInfo], present: set[int] | None,
               flavour: str = "mysql") -> AccessPath:
    """The key that finds a row of a table with these columns and keys (rule FIND).

    present: indexes of the columns in the before-image, None for all. With None, a primary or unique key that is chosen
    is also the table's primary key equivalent (rule PKE).
    """
    stored = {number for number, column in enumerate(columns) if column.stored}
    present = stored if present is None else present & stored
    refused: list[str] = []
    ordered = server_order(columns, keys)
    for number, key in enumerate(ordered):
        searched = _searched(key, columns, present, flavour)
        if isinstance(searched, str):
            refused.append(f"{_called(key)} {searched}")
            continue
        reason = f"{_called(key)} ({', '.join(columns[column].name for column in searched)})"
        reason += "".join(f"; {why}" for why in refused)
        unique, unless_null = _is_unique(key, columns), key.kind == "unique" and flavour == "mariadb"
        if not unique:
            reason += "; it is not unique, so the rest of the before-image is compared"
            reason += " where that has a NULL in the key" * unless_null
            others = [other for other in ordered[number + 1:]
                      if not isinstance(_searched(other, columns, present, flavour), str)]
            if others and flavour == "mariadb":
                reason += f"; a MariaDB server may prefer {_called(others[0])}, by cardinality"
        kind: PathKind = "key" if not unique else "primary" if key.kind == "primary" else "unique"
        return AccessPath(kind, key.name, searched, reason,
                      tuple(prefix for _, prefix in key.parts), tuple(refused),
                      () if unique else tuple(sorted(stored - present)), not unique and unless_null)
    reason = "no key can be used: " + "; ".join(refused) if refused else "the table has no key"
    if not present:
        reason = "the before-image has no column of the table, so that no row can be found"
    scanned = tuple(sorted(present))
    return AccessPath("scan", "", scanned, reason, (None,) * len(scanned), tuple(refused),
                      tuple(sorted(stored - present)))


def server_order(columns: Sequence[ColumnInfo], keys: Iterable[KeyInfo]) -> list[KeyInfo]:
    """The keys in the order in which MySQL keeps them, searches by them, and checks them for duplicates."""
    return sorted(keys, key=lambda key: _rank(key, columns))


def _rank(key: KeyInfo, columns: Sequence[ColumnInfo]) -> tuple[bool, ...]:
    """The order in which MySQL keeps a table's keys: primary, unique without nullable columns, other unique, plain;
    among unique ones those of whole columns first. Keys of one rank keep the definition's order."""
    unique = key.kind in ("primary", "unique")
    has_prefix = any(prefix is not None for _, prefix in key.parts)
    return key.kind != "primary", not unique, unique and _nullable(key, columns), unique and has_prefix


def _nullable(key: KeyInfo, columns: Sequence[ColumnInfo]) -> bool:
    return key.columns is None or any(columns[column].nullable for column in key.columns)


def _is_unique(key: KeyInfo, columns: Sequence[ColumnInfo]) -> bool:
    """Return whether no two rows can have the same values in it; NULLs are never the same."""
    return key.kind == "primary" or (key.kind == "unique" and not _nullable(key, columns))


def _searched(key: KeyInfo, columns: Sequence[ColumnInfo], present: set[int],
              flavour: str) -> tuple[int, ...] | str:
    """The columns by which a key finds rows, or why it cannot."""
    if key.kind not in ("primary", "unique", "key"):
        return "cannot find single rows"
    if key.columns is None:
        return "has an expression, which no row image holds"
    virtual = [columns[column].name for column in key.columns if not columns[column].stored]
    if virtual:
        return f"is over {', '.join(virtual)}, which is VIRTUAL: a snapshot does not hold it"
    if not key.visible and flavour == "mysql" and not _is_unique(key, columns):
        return "is invisible"
    missing = [columns[column].name for column in key.columns if column not in present]
    if missing:
        return f"needs {', '.join(missing)}, which the before-image lacks"
    return key.columns


def _called(key: KeyInfo) -> str:
    if key.kind == "primary":
        return "primary key"
    return f"{'key' if key.kind == 'key' else key.kind + ' key'} {key.name}"
