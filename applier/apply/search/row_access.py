"""The parts of its rows by which a table is searched, and how a before-image finds its row (FIND).

A part is the portion of a column that a row store keeps: the whole value, or the prefix that a key compares. If a
table's before-images always have a unique key, only the parts of its keys are kept. If rows are found by content (by a
key that is not unique, or by a scan), every stored column is a part.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np

from applier.apply.index.store.row_parts import Search
from applier.apply.spec import RowPart, content_part
from applier.binlog.rows.changes import DecodedChanges
from applier.columns.generated_columns import source_numbers, why_not_compared
from applier.columns.table_key import table_key
from applier.schema.definition import TableDefinition
from applier.schema.key_infos import clustered_key, key_collation
from keysearch.choose import AccessPath, ColumnInfo, KeyInfo, choose_access_path, server_order


@dataclasses.dataclass(frozen=True)
class UniqueKey:
    """A primary or unique key: its name and its parts."""

    name: str
    parts: tuple[int, ...]


class RowAccess:
    """The parts of a table's rows, and its keys over them. by_content: rows may have to be found by content. also:
    further parts."""

    def __init__(self, definition: TableDefinition, *, by_content: bool, also: tuple[RowPart, ...] = ()):
        self.definition, self.by_content = definition, by_content
        self.parts: list[RowPart] = []
        self.unique = [UniqueKey(key.name, tuple(self._number(self._compared(column, prefix))
                                                 for column, prefix in key.parts if column is not None))
                       for key in self._unique_keys()]
        for column in self.stored if by_content else self.kept_for_generated:
            self._number(content_part(column, definition) if by_content else RowPart(column))
        for part in also:
            self._number(part)

    @cached_property
    def stored(self) -> tuple[int, ...]:
        """The numbers of the columns that a snapshot has."""
        return tuple(c for c, column in enumerate(self.definition.columns) if column.generated != "virtual")

    @cached_property
    def _columns(self) -> list[ColumnInfo]:
        return [ColumnInfo(column.name, column.nullable) for column in self.definition.columns]

    @cached_property
    def _keys(self) -> list[KeyInfo]:
        return [KeyInfo(key.name, key.kind, tuple(
            (None if part.column is None else self.definition.column_index(part.column), part.length)
            for part in key.parts), key.visible) for key in self.definition.row_keys]

    def _unique_keys(self) -> list[KeyInfo]:
        """The unique keys that can be compared. Keys over VIRTUAL columns come last, since they neither find nor order
        rows."""
        compared = [why_not_compared(key, self.definition) is None for key in self.definition.row_keys]
        keys = [key for key, is_compared in zip(self._keys, compared, strict=True)
                if is_compared and key.kind in ("primary", "unique")]
        ordered = server_order(self._columns, keys)
        return sorted(ordered, key=lambda key: not all(column in self.stored for column, _ in key.parts))

    @property
    def clustered(self) -> bool:
        """True if InnoDB keeps the rows in the order of the first unique key."""
        key = clustered_key(self.definition)
        return key is not None and bool(self.unique) and self.unique[0].name == key.name

    def _compared(self, column: int, prefix: int | None) -> RowPart:
        """Return the part of a column that a key compares."""
        return RowPart(column, prefix, key_collation(self.definition.columns[column], self.definition.flavour))

    def _number(self, part: RowPart) -> int:
        if part not in self.parts:
            self.parts.append(part)
        return self.parts.index(part)

    def unique_for(self, present: frozenset[int]) -> int | None:
        """Return the number of the unique key by which before-images with these columns always find the row; None if
        there is none (FIND, IDX-R1 to R4)."""
        choice = self._choice(present)
        names = [key.name for key in self.unique]
        return names.index(choice.name) if choice.is_exact else None

    def _choice(self, present: frozenset[int]) -> AccessPath:
        keys = [key for key in self._keys if all(column is None or column in self.stored for column, _ in key.parts)]
        return choose_access_path(self._columns, keys, set(present), self.definition.flavour)

    def search(self, present: frozenset[int]) -> Search:
        """Return how a before-image with these columns finds its row."""
        unique, kind = self.unique_for(present), self._choice(present).kind
        if unique is not None:
            return Search(unique=unique, kind=kind)
        in_mariadb = self.definition.flavour == "mariadb"
        return Search(parts=self.whole(tuple(column for column in self.stored if column in present)),
                      ranked=not present.issuperset(self.stored), kind=kind,
                      is_passed_over=in_mariadb, finds_any=in_mariadb and all(
                          self.definition.columns[column].generated for column in self.stored))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The parts of the key by which the snapshot's files are sorted; none for a table without a key."""
        key = table_key(self.definition)
        return next(unique.parts for unique in self.unique if unique.name == key.choice.name) if key else ()

    def whole(self, columns: tuple[int, ...]) -> tuple[int, ...]:
        """Return the parts that are these whole columns."""
        return tuple(self.parts.index(content_part(column, self.definition)) for column in columns)

    @cached_property
    def _made_of(self) -> set[int]:
        """The numbers of the source columns of the generated columns that are completed."""
        found: set[int] = set()
        more = set(self.completed)
        while more:
            column = self.definition.columns[more.pop()]
            made_of = set(source_numbers(column, self.definition)) - found if column.generated else set()
            found, more = found | made_of, more | made_of
        return found

    @cached_property
    def generated(self) -> dict[int, str]:
        """The generated columns of unique keys, by number, with the keys' names."""
        found: dict[int, list[str]] = {}
        for key in self.unique:
            for column in {self.parts[part].column for part in key.parts}:
                if self.definition.columns[column].generated:
                    found.setdefault(column, []).append(key.name)
        return {column: ", ".join(names) for column, names in found.items()}

    @cached_property
    def completed(self) -> dict[int, str | None]:
        """The generated columns that are computed if an image omits them, by number, with the unique keys' names. A
        MariaDB 11.8 server leaves STORED columns out of updates, but not while an online ALTER runs: by content, rows
        are then searched by what the updates made of these columns."""
        searched = {column: None for column in self.stored if self.by_content and
                    self.definition.flavour == "mariadb" and self.definition.columns[column].generated}
        return searched | self.generated

    @cached_property
    def kept_for_generated(self) -> tuple[int, ...]:
        """The numbers of the source columns of completed generated columns, as far as rows have them."""
        return tuple(sorted(self._made_of & set(self.stored)))

    def searches(self, batch: DecodedChanges, logged: int) -> tuple[np.ndarray, list[Search]]:
        """Return how the rows of a batch's before-images are found: (the number of a search, int64 by row of the
        before-images; the searches). logged: how many columns the log's images may have."""
        here = [column for column in self.stored if column < logged and column in batch.before.columns]
        absent = {column: flags.to_numpy(zero_copy_only=False) for column in here
                  if (flags := batch.before.columns[column].absent_rows(batch.n_before)) is not None}
        some = [column for column, flags in absent.items() if flags.any()]
        if not some:
            return self._exact_where_not_null(batch, np.zeros(batch.n_before, np.int64), [frozenset(here)])
        patterns, which = np.unique(np.array([absent[column] for column in some]), axis=1, return_inverse=True)
        kinds = [frozenset(here).difference(np.array(some)[pattern].tolist()) for pattern in patterns.T]
        return self._exact_where_not_null(batch, which.reshape(-1), kinds)

    def _exact_where_not_null(self, batch: DecodedChanges, access_paths: np.ndarray,
                 kinds: list[frozenset[int]]) -> tuple[np.ndarray, list[Search]]:
        """Refine `searches`, given the columns of each kind of before-image: images without a NULL in a unique key are
        searched by that key alone."""
        found = [self.search(present) for present in kinds]
        for way, present in enumerate(kinds):
            choice = self._choice(present)
            if choice.unless_null:
                nulls = [batch.before.columns[column].arrow(batch.n_before).is_null() for column in choice.columns]
                alone = (access_paths == way) & ~np.logical_or.reduce([np.asarray(column) for column in nulls])
                access_paths = np.where(alone, len(found), access_paths)
                found.append(Search(unique=[key.name for key in self.unique].index(choice.name), kind=choice.kind))
        return access_paths, found
