"""A replica, slow and obvious: tables are lists of rows, which change by RULES.md and nothing else.

A row is a dict by column; so is an image, without the columns that the event does not have (IMG-W, IMG-U, IMG-D). An
update's after-image may have Diffs of a JSON column, whose documents are Python values. Transactions are applied one
after the other, their changes one after the other (AP-ORD, FIND-ROWS); the first that is refused takes its whole
transaction back.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from jsondiff import diff
from jsondiff.diff import Diff, DiffError

Row = dict[str, Any]

KEY_NOT_FOUND, DUPLICATE_KEY = 1032, 1062
NULL = object()
"""SQL's NULL in a JSON column, where None is JSON's."""


class Diffs(list[Diff]):
    """A partial update of a document."""


@dataclass(frozen=True)
class Column:
    """`default` is what inserts get that do not have the column; `ignores_case`: keys compare it without."""

    name: str
    sql: str
    nullable: bool = False
    default: Any = None
    ignores_case: bool = False


@dataclass(frozen=True)
class Key:
    """kind: "PRIMARY KEY", "UNIQUE KEY" or "KEY"."""

    kind: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """An event: to each row of a table (before-image, after-image); an insert has no before-, a delete no after-image.
    """

    table: str
    rows: list[tuple[Row | None, Row | None]]


class Refused(Exception):
    """The change that stops a replica: the error's number, the table, the missing or impossible row, and the key with
    the duplicate, if any."""

    def __init__(self, errno: int, table: str, row: Row, key: Key | None = None):
        super().__init__(errno, table, row, key)
        self.errno, self.table, self.row, self.key = errno, table, row, key


@dataclass
class Table:
    """A table, as the replica has it. `suppressed`: what idempotent mode continued after, each as the Refused that
    strict mode would have ended in."""

    name: str
    columns: list[Column]
    keys: list[Key]
    idempotent: bool = False
    flavour: str = "mysql"
    rows: list[Row] = field(default_factory=list)
    suppressed: list[Refused] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._by_name = {column.name: column for column in self.columns}

    def apply(self, before: Row | None, after: Row | None) -> None:
        """Raises Refused."""
        before, after = self._known(before), self._known(after)
        if before is None:
            self._insert(after)
        elif after == {} and self.flavour == "mysql":  # it assigns nothing that the table has
            return
        elif not before and self.flavour == "mysql":  # IDX-R2: idempotent mode does not suppress it
            raise Refused(KEY_NOT_FOUND, self.name, before)
        elif (row := self._find(before)) is None:
            self._conflict(KEY_NOT_FOUND, before)
        elif after is None:
            self._remove(row)
        elif (found := self._in_the_way(updated := row | self._documents(row, after), row)) is not None:
            self._conflict(DUPLICATE_KEY, updated, found[0])
        else:
            row.update(updated)  # DEF-R2: values that the after-image omits stay

    def _documents(self, row: Row, after: Row) -> Row:
        """JD-READ: an after-image with whole documents instead of diffs, which apply to those of the row."""
        try:
            return {name: _changed(row[name], value) if isinstance(value, Diffs) else value
                    for name, value in after.items()}
        except DiffError as error:
            raise Refused(error.errno, self.name, row) from None

    def _known(self, image: Row | None) -> Row | None:
        """IDX-R2, AP-POS: what the table has of an image."""
        return None if image is None else {name: value for name, value in image.items() if name in self._by_name}

    def _conflict(self, errno: int, row: Row, key: Key | None = None) -> None:
        """APP-R7: idempotent mode continues, strict mode stops."""
        refused = Refused(errno, self.name, row, key)
        if not self.idempotent:
            raise refused
        self.suppressed.append(refused)

    def _remove(self, row: Row) -> None:
        self.rows = [other for other in self.rows if other is not row]

    # ---- FIND

    def truly(self, before: Row) -> Row:
        """Return the before-image that a source would log: the values of the row that it finds, if it finds one."""
        row = self._find(self._known(before)) if before else None
        return before if row is None else {name: row.get(name, value) for name, value in before.items()}

    def _find(self, before: Row) -> Row | None:
        """PK, UK, K, scan: a key counts only if the before-image has its columns. By PK or UK the row found is the row;
        else the first that is equal in the whole before-image."""
        for key in self._exact_keys():
            if all(name in before for name in key.columns):
                return self._with(key, before)
        if not before:
            return None
        if self.flavour == "mariadb":  # by the first other unique key, if there is no NULL in it
            for key in self._unique_keys():
                if all(name in before for name in key.columns):
                    if all(before[name] is not None for name in key.columns):
                        return self._with(key, before)
                    break
        equal = [row for row in self.rows if all(row[name] == value for name, value in before.items())]
        return min(equal, key=self.place) if equal else None

    def _exact_keys(self) -> list[Key]:
        """Those that are unique and not over nullable columns: the primary key first."""
        exact = [key for key in self.keys if key.kind != "KEY" and not any(map(self._is_nullable, key.columns))]
        return sorted(exact, key=lambda key: key.kind != "PRIMARY KEY")

    def place(self, row: Row) -> tuple:
        """Where a row is in the table's order: that of the key which InnoDB keeps it by, else that of arrival."""
        for key in self._exact_keys():
            return tuple(self._compared(name, row[name]) for name in key.columns)
        return (next(i for i, other in enumerate(self.rows) if other is row),)

    # ---- keys

    def _is_nullable(self, name: str) -> bool:
        return self._by_name[name].nullable

    def _compared(self, name: str, value: Any) -> Any:
        return value.upper() if self._by_name[name].ignores_case and value is not None else value

    def _value(self, key: Key, row: Row) -> list[Any] | None:
        """Return the part of a row that a key compares; None if there is a NULL in it, since NULLs are not the same."""
        values = [self._compared(name, row[name]) for name in key.columns]
        return None if None in values else values

    def _with(self, key: Key, wanted: Row, own: Row | None = None) -> Row | None:
        """The first row that has the same key, except for the `own` one."""
        if (value := self._value(key, wanted)) is None:
            return None
        return next((row for row in self.rows if row is not own and self._value(key, row) == value), None)

    def _unique_keys(self) -> list[Key]:
        """In the order in which the server meets duplicates: nullable ones last."""
        exact = self._exact_keys()
        return exact + [key for key in self.keys if key.kind != "KEY" and key not in exact]

    def _in_the_way(self, values: Row, own: Row | None = None) -> tuple[Key, Row] | None:
        return next(((key, row) for key in self._unique_keys() if (row := self._with(key, values, own)) is not None),
                    None)

    # ---- inserts

    def _insert(self, after: Row) -> None:
        """DEF-R1a, DEF-R1b: columns that the image omits get the table's default. AP-IDEM: every row in the way goes;
        omitted columns then get the values of the last one, which is replaced in place if the last unique key found
        it."""
        values = {column.name: column.default for column in self.columns} | after
        while (found := self._in_the_way(values)) is not None:
            key, row = found
            self._conflict(DUPLICATE_KEY, values, key)
            if key is self._unique_keys()[-1]:
                row.update(after)
                return
            self._remove(row)
            values = row | after
        self.rows.append(values)


def _changed(document: Any, diffs: Diffs) -> Any:
    """A document after its diffs. JD-NULL: no diff applies to NULL, and none at all make JSON's null of it."""
    if document is not NULL:
        return diff.apply(document, diffs)
    if diffs:
        raise DiffError("the document is NULL", diff.NOT_APPLICABLE)
    return None


class Replica:
    """Tables by name."""

    def __init__(self, tables: list[Table]):
        self.tables = {table.name: table for table in tables}

    def apply(self, transaction: list[Change]) -> None:
        """GRP-1: whole or not at all. Raises Refused."""
        kept = copy.deepcopy(self.tables)
        try:
            for change in transaction:
                for before, after in change.rows:
                    self.tables[change.table].apply(before, after)
        except Refused:
            self.tables = kept
            raise

    def rows(self) -> dict[str, list[Row]]:
        return {name: table.rows for name, table in self.tables.items()}

    @property
    def conflicts(self) -> int:
        return sum(len(table.suppressed) for table in self.tables.values())
