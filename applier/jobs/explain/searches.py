"""How the rows of each version of a table are found by each layout of its before-images, and possible faults."""

from __future__ import annotations

import dataclasses

from applier.columns.generated_columns import why_not_compared
from applier.jobs.explain.layouts import BeforeImages
from applier.schema.definition import TableDefinition
from applier.schema.key_infos import column_infos, key_collation, key_infos
from keysearch.choose import AccessPath, choose_access_path
from keysearch.collation import is_exact


@dataclasses.dataclass(frozen=True)
class SearchExplained:
    """images: the before-images to search by. choice: the key. warnings: for people."""

    images: BeforeImages
    choice: AccessPath
    warnings: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class TableExplained:
    """A version of a table, and its searches. since: where it was created ("file:pos"; "" before the log). n_events,
    n_bytes: of its rows events, inserts included. duplicates: the keys that inserted rows may already be in. warnings:
    about the table as a whole."""

    definition: TableDefinition
    since: str
    n_events: int
    n_bytes: int
    searches: tuple[SearchExplained, ...]
    duplicates: tuple[str, ...]
    warnings: tuple[str, ...]

    def names(self, columns: tuple[int, ...]) -> str:
        """Return the names of columns, for people."""
        return ", ".join(self.definition.columns[column].name for column in columns)


def explain_table(definition: TableDefinition, since: str, n_events: int, n_bytes: int,
                  layouts: list[BeforeImages]) -> TableExplained:
    """Choose a key for each layout (FIND, IDX-R1 to R4)."""
    searches = tuple(_search(definition, images) for images in layouts)
    unique = [key for key in definition.keys if key.kind in ("primary", "unique")]
    duplicates = tuple(f"{key.name} ({', '.join(part.column or f'({part.expression})' for part in key.parts)})"
                       for key in unique)
    return TableExplained(definition, since, n_events, n_bytes, searches, duplicates, _of_table(definition))


def _search(definition: TableDefinition, images: BeforeImages) -> SearchExplained:
    choice = choose_access_path(column_infos(definition), key_infos(definition), set(images.present),
                                definition.flavour)
    warnings = []
    if choice.cost == "none":
        warnings.append("the replay stops at such an image (1032)")
    if choice.is_ambiguous:
        compared = sorted(images.present.intersection(range(len(definition.columns))))
        warnings.append(f"ambiguous: rows that are equal in {_few(definition, compared)} may differ in "
                        f"{_few(definition, choice.uncompared)}; the first in the table's order is taken")
    return SearchExplained(images, choice, tuple(warnings))


def _of_table(definition: TableDefinition) -> tuple[str, ...]:
    warnings = []
    if not choose_access_path(column_infos(definition), key_infos(definition), None).is_exact:
        warnings.append("no key tells one row from another: the whole table is one unit of work")
    return (*warnings, *duplicate_warnings(definition))


def duplicate_warnings(definition: TableDefinition) -> tuple[str, ...]:
    """For each unique key whose duplicates a replay does not find as the server does: why not, for people."""
    warnings = []
    for key in definition.keys:
        if key.kind not in ("primary", "unique"):
            continue
        if why_not := why_not_compared(key, definition):
            warnings.append(f"duplicates in {key.name} are not found: {why_not}")
            continue
        for part in key.parts:
            if part.column is None:
                continue
            column = definition.column(part.column)
            collation = key_collation(column, definition.flavour)
            if collation is not None and not is_exact(collation):
                warnings.append(f"duplicates in {key.name} are found by their bytes only: {column.name} is of "
                                f"collation {collation}")
    return tuple(warnings)


def _few(definition: TableDefinition, columns: list[int] | tuple[int, ...]) -> str:
    names = [definition.columns[column].name for column in columns]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
