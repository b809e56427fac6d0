"""CHECK constraints: as written, as a definition keeps them, and how DDL changes them.

They are kept so that a definition comes back whole, and are not evaluated: the rows in the log have passed them.
MariaDB has constraints of columns, which change with their column, and of tables; MySQL makes all of them the table's.

Source: MySQL manual, "CHECK Constraints"; MariaDB's "CONSTRAINT"; judged by SHOW CREATE TABLE of MySQL 9.7 and MariaDB
10.11 and 11.8.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from applier.mysql.names import folded
from applier.mysql.types import quote_name
from applier.sql.tokens import tokenize

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Check:
    """A constraint of a table; `expression` is the SQL in its parentheses."""

    name: str
    expression: str
    enforced: bool = True

    def sql(self) -> str:
        """Return a CONSTRAINT clause."""
        return f"CONSTRAINT {quote_name(self.name)} CHECK ({self.expression})" + " NOT ENFORCED" * (not self.enforced)


@dataclass(frozen=True, slots=True)
class CheckWords:
    """A constraint as written; the server names those without a name."""

    name: str | None
    expression: str
    enforced: bool = True
    if_not_exists: bool = False


def is_text(expression: str) -> bool:
    """False where a literal has undecodable bytes: SQL cannot write such a constraint, and it is left out."""
    return expression.encode(errors="replace") == expression.encode(errors="surrogatepass")


def json_check(column: str) -> str:
    """Return the expression that MariaDB makes of a column's type JSON."""
    return f"json_valid({quote_name(column)})"


def is_json(check: str | None, column: str) -> bool:
    """Return whether a column with this constraint is JSON to MariaDB, which makes it LONGTEXT with that constraint."""
    return check is not None and [token.text.lower() for token in tokenize(check)][:-1] in (
        ["json_valid", "(", folded(column), ")"], ["json_valid", "(", column.lower(), ")"])


def keeps_checks(flavour: str, server_version: str) -> bool:
    """False for a server that reads constraints and forgets them: MySQL before 8.0.16, MariaDB before 10.2."""
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", server_version.removeprefix("5.5.5-"))
    version = tuple(int(number or 0) for number in found.groups()) if found is not None else None
    return version is None or version >= ((10, 2, 1) if flavour == "mariadb" else (8, 0, 16))


# ---- the effects of statements on a table's constraints


def resolve_checks(words: Iterable[CheckWords], before: Sequence[Check], table: str, flavour: str) -> tuple[Check, ...]:
    """Return a table's constraints, with those that exist `before`. MySQL names new ones <table>_chk_1 and so on, after
    the largest number; MariaDB CONSTRAINT_1 and so on, by the smallest number that is free."""
    words, checks = [check for check in words if is_text(check.expression)], list(before)
    taken = {folded(check.name) for check in checks} | {folded(check.name) for check in words if check.name}
    for check in words:
        name = check.name
        if name is None and flavour == "mariadb":
            numbered = (f"CONSTRAINT_{number}" for number in range(1, 2 + len(taken)))
            name = next(free for free in numbered if folded(free) not in taken)
        elif name is None:
            name = f"{table}_chk_{1 + max((_number(other.name, table) for other in checks), default=0)}"
        elif check.if_not_exists and any(folded(other.name) == folded(name) for other in checks):
            continue
        taken.add(folded(name))
        checks.append(Check(name, check.expression, check.enforced))
    return tuple(checks)


def without_checks(checks: Iterable[Check], names: Iterable[str], columns: Iterable[str]) -> tuple[Check, ...]:
    """Return the constraints without those of these names, and without those of dropped `columns`."""
    dropped, gone = {folded(name) for name in names}, {folded(name) for name in columns}
    return tuple(check for check in checks if folded(check.name) not in dropped
                 and not (gone and gone & _named(check.expression)))


def enforced(checks: Iterable[Check], choices: dict[str, bool]) -> tuple[Check, ...]:
    """Return the constraints, enforced or not as these say, by names in lower case."""
    return tuple(replace(check, enforced=choices.get(folded(check.name), check.enforced)) for check in checks)


def with_expressions(checks: Iterable[Check], change: Callable[[str], str]) -> tuple[Check, ...]:
    """Return the constraints with changed expressions."""
    return tuple(replace(check, expression=change(check.expression)) for check in checks)


def renamed_table_checks(checks: Iterable[Check], old: str, new: str, flavour: str) -> tuple[Check, ...]:
    """Return the constraints of a renamed table: names that MySQL made follow the table's."""
    return tuple(replace(check, name=f"{new}_chk_{number}")
                 if flavour == "mysql" and (number := _number(check.name, old)) else check for check in checks)


def checks_like(checks: Iterable[Check], table: str, flavour: str) -> tuple[Check, ...]:
    """Return the constraints of a table that is created like another; MySQL names all of them again."""
    if flavour == "mariadb":
        return tuple(checks)
    return resolve_checks([CheckWords(None, check.expression, check.enforced) for check in checks], (), table, flavour)


def _number(name: str, table: str) -> int:
    """Return the number in a name that MySQL made for a constraint of this table; 0 for another name."""
    found = re.fullmatch(re.escape(table) + r"_chk_(\d+)", name, re.IGNORECASE)
    return int(found[1]) if found else 0


def _named(expression: str) -> set[str]:
    """Return the words and names of an expression, in lower case."""
    return {folded(token.text) for token in tokenize(expression) if token.kind in ("word", "name")}
