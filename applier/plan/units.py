"""Units of work: which version of a table, which keys of it, and which base files.

A version without changes in the log needs no unit. One with changes gets as many as keep the cores busy and a unit's
rows in memory; with a base, ranges begin where base files begin, so that files whose range has no change are carried
over.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping

from applier.apply.row_pieces import RowPieces
from applier.apply.table_key import alters_rows, keeps_key, table_key
from applier.apply.work import RowSearch, UnitSpec
from applier.binlog.table_map import WireType
from applier.plan.cascades import TiedVersion
from applier.plan.exchanged import add_units, exchanged_versions
from applier.plan.log import UsedTable
from applier.plan.planned import PlannedVersion
from applier.plan.ranges import bounds
from applier.schema.conversion import RowConversion
from applier.schema.definition import TableDefinition
from applier.schema.history import SchemaHistory
from applier.schema.type_conversions import NONE_ALLOWED, TypeConversions
from applier.snapshot.manifest import FileEntry, KeyValue, Snapshot
from applier.snapshot.publish import Staging

UNIT_BYTES = 128 << 20
"""Bytes of rows events for one unit, at most by plan."""
NOTHING_TIED: Mapping[int, TiedVersion] = {}
LEAST_UNIT_BYTES = 8 << 20
"""Below this, dividing a table costs more than it brings."""


def changed_versions(used: list[UsedTable], history: SchemaHistory,
                     tied: Mapping[int, TiedVersion] = NOTHING_TIED) -> list[PlannedVersion]:
    """The versions that the log has rows of, and those that such rows come from or go to, in the order of their making.

    Where a base may have rows, that is every version that DDL alone makes rows of, too; and every version that is
    `tied`.
    """
    uses: dict[int, list[UsedTable]] = {}
    for table in used:
        for version in table.versions:
            uses.setdefault(version.id, []).append(table)
    planned, exchanged = [], set()
    for group in history.exchanged():
        exchanged |= {version.id for version in group}
        planned += exchanged_versions(group, uses, history)
    for chain in history.chains():
        if chain[0].id in exchanged:
            continue
        in_snapshot = chain[-1].end is None and history.is_wanted(chain[-1])
        last_used = max((place for place, version in enumerate(chain) if version.id in uses), default=-1)
        from_base = chain[0].in_base is not None and any(alters_rows(version.conversion) for version in chain[1:])
        if chain[0].id in tied or (in_snapshot and (last_used >= 0 or from_base)):
            last_used = len(chain) - 1
        planned += [PlannedVersion(version, uses.get(version.id, []), [], place < last_used, in_snapshot)
                    for place, version in enumerate(chain[:last_used + 1])]
    return sorted(planned, key=lambda item: item.version.id)


def divide(planned: list[PlannedVersion], base: Snapshot | None, staging: Staging, cores: int, *,
           idempotent: bool, moving: Collection[str] = (), allowed: TypeConversions = NONE_ALLOWED,
           tied: Mapping[int, TiedVersion] = NOTHING_TIED) -> None:
    """Give each version its units. Numbers of units with one key to search by come before those of row stores. `moving`
    are tables (db.table) in which idempotent mode met moves between units."""
    total, number = sum(version.bytes for version in planned), 0
    unit_bytes = min(UNIT_BYTES, max(LEAST_UNIT_BYTES, total // (2 * cores)))
    searches = {item.version.id: _row_search(item, idempotent, tied.get(item.version.id))
                if item.uses or item.version.id in tied else None for item in planned}
    by_group: dict[int, list[PlannedVersion]] = {}
    for item in planned:
        if item.group is not None:
            by_group.setdefault(item.group, []).append(item)
    chains = _chains([item for item in planned if item.group is None])
    for chain in sorted(chains, key=lambda chain: any(searches[item.version.id] for item in chain)):
        why = "foreign keys tie its rows to those of others" if chain[0].version.id in tied else \
            _why_tied(chain, searches, base, idempotent, moving)
        ranges = 1 + sum(item.bytes for item in chain) // unit_bytes
        for item in chain:
            item.ranges, item.tied = ranges, why
        lows = [None] if why else _lows(chain, base, ranges, allowed)
        for low, high in zip(lows, [*lows[1:], None], strict=True):
            _add_units(chain, searches, number, low, high, base, staging, allowed, tied, idempotent)
            number += 1
    for group in by_group.values():
        needed = {item.version.id: searches[item.version.id] or RowSearch(by_content=False) for item in group}
        files = {item.version.id: _files_of(item, base) for item in group if item.version.previous is None}
        number = add_units(group, needed, number, base, staging, allowed, files, idempotent)


def _row_search(item: PlannedVersion, idempotent: bool, tied: TiedVersion | None) -> RowSearch | None:
    """Whether rows of a version are found, and collide, by more than one key: then one row store applies it.

    Every unique key may be met twice (1062), and in idempotent mode a row in the way of another key goes, wherever it
    is. There a NULL in the log for a key that has none is the replica's default, too."""
    definition = item.version.definition
    pieces = RowPieces(definition, by_content=False)
    always, numbers_rows, also = set(pieces.stored), False, tied.also if tied is not None else ()
    for used in item.uses:
        logged = _n_logged(used, len(definition.columns))
        numbers_rows |= any(column.auto_increment for column in definition.columns[logged:])
        always = {column for column in always if column < logged and not used.use.lacked_columns >> column & 1}
    if pieces.unique_for(frozenset(always)) is None:
        every = range(len(definition.columns))
        whole = tied is None and not pieces.unique and always.issuperset(pieces.stored) and not any(
            _has_diffs(used) or _nulls_become_values(used, definition, every) for used in item.uses)
        return RowSearch(by_content=True, also=also, whole_images=whole)
    gets_values = idempotent and any(_nulls_become_values(used, definition, table_key(definition).columns)
                                     for used in item.uses)
    if tied is not None or len(pieces.unique) > 1 or numbers_rows or gets_values:
        return RowSearch(by_content=False, also=also)
    return None


def _nulls_become_values(used: UsedTable, definition: TableDefinition, columns: Container[int]) -> bool:
    """Whether images may have NULLs for those of `columns` that cannot be NULL here: what they get may depend on the
    event."""
    return any(nullable and not column.nullable and number in columns for number, (nullable, column) in
               enumerate(zip(used.table_map.nullable, definition.columns, strict=False)))


def _chains(planned: list[PlannedVersion]) -> list[list[PlannedVersion]]:
    """The planned versions by table: each has the rows of the one before."""
    by_last: dict[int | None, list[PlannedVersion]] = {}
    chains = []
    for item in planned:
        chain = by_last.pop(item.version.previous, None) if item.version.previous is not None else None
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append(item)
        by_last[item.version.id] = chain
    return chains


def _add_units(chain: list[PlannedVersion], searches: dict[int, RowSearch | None], number: int, low: KeyValue | None,
               high: KeyValue | None, base: Snapshot | None, staging: Staging, allowed: TypeConversions,
               tied: Mapping[int, TiedVersion], idempotent: bool) -> None:
    """One unit, as a link for each version of the chain."""
    files = _base_files(chain[0], base, low, high)
    unit: UnitSpec | None = None
    for item in chain:
        version, place = item.version, None
        if item.in_snapshot and not item.succeeded:
            place = staging.place(version.definition.database, version.definition.name,
                                  history=version.definition.versioning is not None)
        unit = UnitSpec(number, version.definition, low, high, base if files else None, files, place,
                        searches[version.id], version.id, unit, version.conversion if unit is not None else None,
                        allowed, not chain[0].version.given,
                        tie=tied[version.id].tie if version.id in tied else None, idempotent=idempotent)
        item.units.append(unit)


def _why_tied(chain: list[PlannedVersion], searches: dict[int, RowSearch | None], base: Snapshot | None,
              idempotent: bool, moving: Collection[str]) -> str:
    """Why all keys of a table have to be one unit; "" if they do not."""
    stores = [search for item in chain if (search := searches[item.version.id]) is not None]
    if any(search.by_content for search in stores):
        return "some rows are found by what they hold"
    if stores:
        return "in idempotent mode a row in the way goes, wherever it is" if idempotent else "several unique keys"
    if any(item.version.definition.full_name in moving for item in chain):
        return "in idempotent mode it depends on both keys whether a row moves from one to the other"
    if not all(keeps_key(item.version.conversion) for item in chain[1:]):
        return "DDL gives the rows another key"
    if any(item.version.definition.versioning is not None for item in chain):
        return "rows that hold no more are kept beside the others"
    key = table_key(chain[0].version.definition)
    if key is None:
        return "no key tells one row from another"
    if any(_is_tied(item, table_key(item.version.definition).columns) for item in chain):
        return "partial images move rows to other keys"
    if any(_numbers_rows(item.version.conversion) for item in chain[1:]):
        return "DDL numbers the rows"
    return "" if _orders_base(chain[0], base) else "the base's files are ordered by another collation"


def _numbers_rows(conversion: RowConversion) -> bool:
    return any(source is None and column.auto_increment
               for source, column in zip(conversion.sources, conversion.new.columns, strict=True))


def _is_tied(item: PlannedVersion, key_columns: tuple[int, ...]) -> bool:
    """Whether an update may move a row to another key without holding the whole row: its old values are then needed
    where it goes, so all keys are one unit. A JSON diff is no whole value; columns that the log lacks are in no
    image."""
    columns = len(item.version.definition.columns)
    return any(_has_diffs(used) or _n_logged(used, columns) < columns or used.use.after_columns >> column & 1
               for used in item.uses for column in key_columns)


def _n_logged(used: UsedTable, columns: int) -> int:
    """How many columns the log has of a version with so many. A table map with as many as another version of the table
    is about that one, and says nothing of this one."""
    logged = len(used.table_map.types)
    return columns if logged in {len(version.definition.columns) for version in used.versions} else logged


def _has_diffs(used: UsedTable) -> bool:
    """Whether full after-images may have JSON diffs in them. A session that writes such writes all its updates as the
    kind of event that may, those of tables without JSON columns, too."""
    return used.use.has_diffs and WireType.JSON in used.table_map.types


def _lows(chain: list[PlannedVersion], base: Snapshot | None, n: int,
          allowed: TypeConversions) -> list[KeyValue | None]:
    """Where the units' ranges begin; the first has no bound. A base file is never cut: what is divided by the log's own
    keys is the space between and after the files, where most tables grow."""
    item = max(chain, key=lambda item: item.bytes)  # whose samples count; the keys are the same in all versions
    files, definition = _files_of(chain[0], base), item.version.definition
    cuts = bounds([used.use for used in item.uses], definition, table_key(definition), n, allowed)
    between = {cut for cut in cuts if not any(file.min_key < cut <= file.max_key for file in files)}
    return [None, *sorted(between.union(file.min_key for file in files[1:]))]


def _files_of(item: PlannedVersion, base: Snapshot | None) -> tuple[FileEntry, ...]:
    """The base's files of this version; a version made by the log has none."""
    if base is None or item.version.in_base is None:
        return ()
    entry = base.table(*item.version.in_base)
    if entry is None:
        return ()
    return tuple(file for file in entry.history or entry.files if file.rows)


def _orders_base(item: PlannedVersion, base: Snapshot | None) -> bool:
    """Whether the base's files are in the order of the version's key: an older program may have known fewer collations.
    """
    entry = base.table(*item.version.in_base) if base is not None and item.version.in_base is not None else None
    return entry is None or entry.key_rules == table_key(item.version.definition).rules


def _base_files(item: PlannedVersion, base: Snapshot | None, low: KeyValue | None,
                high: KeyValue | None) -> tuple[FileEntry, ...]:
    return tuple(file for file in _files_of(item, base)
                 if (low is None or file.min_key >= low) and (high is None or file.min_key < high))

