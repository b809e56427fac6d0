"""Foreign keys of tables: as written, as a definition keeps them, and how DDL changes them.

Source: MySQL manual, "FOREIGN KEY Constraints"; MariaDB's "Foreign Keys". applier.apply.foreign_keys.cascades has which
rows they change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from applier.mysql.names import folded
from applier.mysql.types import quote_name
from applier.mysql.versions import is_since

if TYPE_CHECKING:
    pass

CASCADE, SET_NULL, RESTRICT = "CASCADE", "SET NULL", "RESTRICT"
_WORDS = RESTRICT, "NO ACTION", "SET DEFAULT"
_SHOWN = {"mysql": (RESTRICT, "SET DEFAULT"), "mariadb": ("NO ACTION",)}
"""Words that a server keeps; the others mean the same as a key without words."""


def _complaint(shown: tuple[str, str]) -> str:
    """Return an error in words of a manifest; "" for none."""
    return "" if {*shown} <= {"", *_WORDS} else f"is {shown!r}, which are no words of a foreign key"


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of the table refer to `referenced` ones of `table` in `database`; without `referenced`, to its primary
    key. `on_delete` and `on_update` are "CASCADE", "SET NULL" or "RESTRICT", which also stands for NO ACTION and SET
    DEFAULT, as InnoDB takes them; of these, `shown` has the words that SHOW CREATE TABLE has ("": none)."""

    name: str
    columns: tuple[str, ...]
    database: str
    table: str
    referenced: tuple[str, ...]
    on_delete: str = RESTRICT
    on_update: str = RESTRICT
    shown: Annotated[tuple[str, str], _complaint] = ("", "")

    @property
    def cascades(self) -> bool:
        """True if it may change rows of its table."""
        return self.on_delete != RESTRICT or self.on_update != RESTRICT

    def sql(self) -> str:
        """Return a CONSTRAINT clause."""
        parts = [f"CONSTRAINT {quote_name(self.name)} FOREIGN KEY ({_names(self.columns)})",
                 f"REFERENCES {quote_name(self.database)}.{quote_name(self.table)}"]
        parts += [f"({_names(self.referenced)})"] if self.referenced else []
        parts += [f"ON {event} {words}" for event, action, shown in zip(
            ("DELETE", "UPDATE"), (self.on_delete, self.on_update), self.shown, strict=True)
            if (words := shown if action == RESTRICT else action)]
        return " ".join(parts)


def _names(columns: Iterable[str]) -> str:
    return ", ".join(map(quote_name, columns))


@dataclass(slots=True)
class ForeignKeyWords:
    """A foreign key as written. `database` None means its own table's; the server names foreign keys without a name."""

    name: str | None
    columns: tuple[str, ...]
    database: str | None
    table: str
    referenced: tuple[str, ...]
    on_delete: str
    on_update: str
    if_not_exists: bool = False
    shown: tuple[str, str] = ("", "")


def honours_inline_references(flavour: str, server_version: str) -> bool:
    """Return whether REFERENCES beside a column makes a foreign key: in MySQL from 9.0, in MariaDB from 10.5 on."""
    return is_since(server_version, (10, 5) if flavour == "mariadb" else (9, 0))


# ---- the effects of statements on a table's foreign keys


def resolve_foreign_keys(words: Iterable[ForeignKeyWords], before: Sequence[ForeignKey], database: str,
                         table: str) -> tuple[ForeignKey, ...]:
    """Return the foreign keys of a table, with those that exist `before`; the server names new ones <table>_ibfk_1 and
    so on."""
    keys = list(before)
    for key in words:
        if key.if_not_exists and any(_same(key.name or "", other.name) for other in keys):
            continue
        name = key.name or f"{table}_ibfk_{1 + max((_number(other.name, table) for other in keys), default=0)}"
        keys.append(ForeignKey(name, key.columns, key.database or database, key.table, key.referenced, key.on_delete,
                               key.on_update, key.shown))
    return tuple(keys)


def without_keys(keys: Iterable[ForeignKey], dropped: Iterable[str], columns: Iterable[str]) -> tuple[ForeignKey, ...]:
    """Return the keys without those of the `dropped` names, and without those of columns that are not among
    `columns`."""
    names, there = {folded(name) for name in dropped}, {folded(name) for name in columns}
    return tuple(key for key in keys if folded(key.name) not in names
                 and all(folded(column) in there for column in key.columns))


def with_columns_renamed(keys: Iterable[ForeignKey], renames: Mapping[str, str]) -> tuple[ForeignKey, ...]:
    """Return the keys of a table whose own columns have new names, by the old ones in lower case."""
    return tuple(replace(key, columns=_renamed(key.columns, renames)) for key in keys)


def renamed_table(keys: Iterable[ForeignKey], old: str, new: str) -> tuple[ForeignKey, ...]:
    """Return the keys of a renamed table: names that the server made follow the table's."""
    return tuple(replace(key, name=f"{new}_ibfk_{number}") if (number := _number(key.name, old)) else key
                 for key in keys)


def pointed_anew(keys: tuple[ForeignKey, ...], old: tuple[str, str], new: tuple[str, str],
                 renames: Mapping[str, str]) -> tuple[ForeignKey, ...]:
    """Return the keys of a table where the table `old` (database, name) has become `new`, and its columns have other
    names, by the old ones in lower case."""
    return tuple(replace(key, database=new[0], table=new[1], referenced=_renamed(key.referenced, renames))
                 if (key.database, key.table) == old else key for key in keys)


def _renamed(columns: tuple[str, ...], renames: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(renames.get(folded(column), column) for column in columns)


def _number(name: str, table: str) -> int:
    """Return the number in a name that the server made for a key of this table; 0 for another name."""
    found = re.fullmatch(re.escape(table) + r"_ibfk_(\d+)", name, re.IGNORECASE)
    return int(found[1]) if found else 0


def _same(a: str, b: str) -> bool:
    return folded(a) == folded(b)
