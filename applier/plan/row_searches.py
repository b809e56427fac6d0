"""Which tables have a key that finds all their rows, and what the others need instead."""

from __future__ import annotations

from collections.abc import Sequence

from applier.apply.search.row_access import RowAccess
from applier.apply.spec import ImageMultiset, RowPart, Stored
from applier.columns.table_key import table_key
from applier.mysql.wire_types import WireType
from applier.plan.used_tables import UsedTable
from applier.schema.definition import TableDefinition


def row_search(definition: TableDefinition, uses: Sequence[UsedTable], *, grouped: bool = False, traced: bool = False,
               also: tuple[RowPart, ...] = ()) -> Stored | ImageMultiset | None:
    """How rows of a version are found: by a row store or a multiset of images, if rows are found, or collide, by more
    than one key, or foreign keys connect them to others; None if the table's only key is enough. Only a store traces
    rows without a key.

    Every unique key may be taken (1062), and in idempotent mode a row that has another key of the new one is removed,
    wherever it is. A generated column of a key is computed if an image does not have it, which only a row store
    does."""
    parts = RowAccess(definition, by_content=False)
    always, numbers_rows = set(parts.stored), False
    for used in uses:
        logged = n_logged(used, len(definition.columns))
        numbers_rows |= any(column.auto_increment for column in definition.columns[logged:])
        always = {column for column in always if column < logged and not used.use.lacked_columns >> column & 1}
    if parts.unique_for(frozenset(always)) is None:
        whole = not grouped and not traced and not parts.unique and always.issuperset(parts.stored) and not any(
            has_diffs(used) or _nulls_become_values(used, definition) for used in uses)
        return ImageMultiset() if whole else Stored(by_content=True, also=also)
    if grouped or len(parts.unique) > 1 or numbers_rows or parts.generated or table_key(definition) is None:
        return Stored(by_content=False, also=also)
    return None


def n_logged(used: UsedTable, columns: int) -> int:
    """Return how many columns the log has for a version with this many. A table map with as many as another version of
    the table belongs to that version, and tells nothing about this one."""
    logged = len(used.table_map.types)
    return columns if logged in used.column_counts else logged


def has_diffs(used: UsedTable) -> bool:
    """True if full after-images may have JSON diffs. A session that writes diffs logs all its updates as the event type
    that allows them, also for tables without JSON columns."""
    return used.use.has_diffs and WireType.JSON in used.table_map.types


def _nulls_become_values(used: UsedTable, definition: TableDefinition) -> bool:
    """True if images may have NULLs for columns that are NOT NULL here: their replacement may depend on the event."""
    return any(nullable and not column.nullable
               for nullable, column in zip(used.table_map.nullable, definition.columns, strict=False))
