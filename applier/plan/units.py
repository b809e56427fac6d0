"""Units of work: which version of a table, which keys of it, and which base files.

A version without changes in the log needs no unit. One with changes gets as many as keep the cores busy and a unit's
rows in memory (applier.plan.ranges).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from applier.apply.spec import (
    Altered,
    BeginsEmpty,
    FromBase,
    ImageMultiset,
    KeyRange,
    NotSearched,
    RowOrigin,
    Stored,
    UnitSpec,
)
from applier.apply.witnessed import OFF
from applier.columns.alter.scan_order import follows_arrival
from applier.columns.table_key import BytesKey, IntKey, TableKey, alters_rows, keeps_key, table_key
from applier.columns.type_conversions import NONE_ALLOWED, TypeConversions
from applier.io.resolver import absolute
from applier.plan.cascades import Cascades
from applier.plan.exchanged import add_units, exchanged_versions
from applier.plan.planned import PlannedVersion
from applier.plan.ranges import BaseFiles, lows, sampled_keys
from applier.plan.row_searches import has_diffs, n_logged, row_search
from applier.plan.used_tables import UsedTable
from applier.schema.ddl.schema_changes import TableName
from applier.schema.history.history import SchemaHistory
from applier.snapshot.files.file_entries import FileEntry, KeyValue
from applier.snapshot.manifest import Snapshot
from applier.snapshot.staging import Staging

UNIT_BYTES = 128 << 20
"""The most bytes of rows events for one unit, by plan."""
NO_CASCADES = Cascades({}, {})
LEAST_UNIT_BYTES = 8 << 20
"""Below this size, dividing a table costs more than it gains."""


ChosenOf = Mapping[int, Collection[KeyValue]]
"""By version, the keys of the only rows of it that count, as its table's key has them."""
NOT_CHOSEN: ChosenOf = {}
_MOST_CHOSEN, _HIGHEST_INT = 16, (1 << 63) - 1
_Range = tuple[KeyValue | None, KeyValue | None, RowOrigin]
"""Where a range begins, where the next one does, and the rows of the chain's first version in it."""
_Searches = dict[int, Stored | ImageMultiset | None]
"""By version, how its rows are found, if not by the table's only key."""


def changed_versions(used: list[UsedTable], history: SchemaHistory, cascades: Cascades = NO_CASCADES,
                     traced: TableName | None = None) -> list[PlannedVersion]:
    """The versions that the log changes, and those that their rows come from or go to, in the order of creation.

    With a base that may have rows, these are also all versions that DDL alone gives rows to; and all versions whose
    rows foreign keys change, or that they connect to such versions. Of a table whose rows are `traced` these are all
    that may have rows.
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
        last_used = max((target for target, version in enumerate(chain) if version.id in uses), default=-1)
        from_base = chain[0].in_base is not None and any(
            chain[0].may_misplace or alters_rows(source.conversion) for version in chain for source in version.sources)
        if chain[0].id in cascades or (in_snapshot and (last_used >= 0 or from_base)):
            last_used = len(chain) - 1
        if any((version.definition.database, version.definition.name) == traced for version in chain) and (
                last_used >= 0 or chain[0].in_base is not None):
            last_used = len(chain) - 1
        planned += [PlannedVersion(version, uses.get(version.id, []), [], target < last_used, in_snapshot)
                    for target, version in enumerate(chain[:last_used + 1])]
    return sorted(planned, key=lambda item: item.version.id)


def divide(planned: list[PlannedVersion], base: Snapshot | None, staging: Staging | None, cores: int | None, *,
           idempotent: bool, moving: Collection[str] = (), allowed: TypeConversions = NONE_ALLOWED,
           cascades: Cascades = NO_CASCADES, chosen: ChosenOf = NOT_CHOSEN, witness: str = OFF) -> None:
    """Give each version its units. Numbers of units that may be applied by the shuffle route come before the others.
    `moving` are tables (db.table) whose rows moved between units in idempotent mode. Without `staging` rows are not
    written, but their steps are traced. Without `cores` units are as few as the base's files allow. For tables with
    `chosen` keys, units have the rows with these, if ranges of the key can be applied by themselves. `witness` is as in
    UnitSpec."""
    total, number = sum(version.bytes for version in planned), 0
    unit_bytes = total + 1 if cores is None else min(UNIT_BYTES, max(LEAST_UNIT_BYTES, total // (2 * cores)))
    grouped, searches = cascades.grouped, _Searches()
    for item in planned:
        member = grouped.get(item.version.id)
        searches[item.version.id] = row_search(
            item.version.definition, item.uses, grouped=member is not None, traced=staging is None,
            also=member.also if member is not None else ()) if item.uses or member is not None else None
    by_group: dict[int, list[PlannedVersion]] = {}
    for item in planned:
        if item.group is not None:
            by_group.setdefault(item.group, []).append(item)
    chains = _chains([item for item in planned if item.group is None])
    for chain in chains:
        _follow_arrival(chain, searches)
    for chain in sorted(chains, key=lambda chain: any(searches[item.version.id] or item.version.id in cascades.links
                                                      for item in chain)):
        reason = "foreign keys connect its rows to rows of other tables" if chain[0].version.id in grouped else \
            _single_unit_reason(chain, searches, base, idempotent, moving)
        ranges = 1 + sum(item.bytes for item in chain) // unit_bytes
        for item in chain:
            item.ranges, item.single_unit_reason = ranges, reason
        files = _base_files(chain[0], base)
        bounds = [] if reason else _with_keys({key for item in chain for key in chosen.get(item.version.id, ())})
        if not bounds:
            begins: Sequence[KeyValue | None] = [None] if reason else [None, *_lows(chain, files, ranges, unit_bytes,
                                                                                   allowed)]
            bounds = [*zip(begins, [*begins[1:], None], strict=True)]
        number = _add_units(chain, searches, number, [(low, high, _begins(base, files.within(low, high), chain[0]))
                                                      for low, high in bounds],
                            staging, allowed, cascades, base, idempotent, witness)
    for group_number, group in by_group.items():
        needed = {item.version.id: searches[item.version.id] or Stored(by_content=False) for item in group}
        number = add_units(group_number, group, needed, number,
                           lambda item: _begins(base, _base_files(item, base).all, item), staging, allowed,
                           idempotent, witness)


def _follow_arrival(chain: list[PlannedVersion], searches: _Searches) -> None:
    """Find rows by a store, which knows when they arrived, where a statement depends on that and a key sorts them."""
    for number, item in enumerate(chain):
        depend = any(conversion.numbers_rows or conversion.ignores is not None or (
            table_key(conversion.old) is not None and table_key(conversion.new) is None)
            for later in chain[number + 1:] for conversion in (source.conversion for source in later.version.sources))
        if depend and item.uses and searches[item.version.id] is None and follows_arrival(item.version.definition):
            searches[item.version.id] = Stored(by_content=False)


def _with_keys(keys: Collection[KeyValue]) -> list[tuple[KeyValue | None, KeyValue | None]]:
    """Ranges that have these keys of one table, ascending: one for each, or of many from the lowest to the highest."""
    ascending: list[KeyValue] = [*sorted(key for key in keys if isinstance(key, int)),
                                 *sorted(key for key in keys if isinstance(key, bytes))]
    if not ascending:
        return []
    if len(ascending) > _MOST_CHOSEN:
        return [(ascending[0], _next(ascending[-1]))]
    return [(key, _next(key)) for key in ascending]


def _next(key: KeyValue) -> KeyValue | None:
    """The lowest key above one; None if there is none."""
    if isinstance(key, bytes):
        return key + b"\0"
    return None if key == _HIGHEST_INT else key + 1


def _chains(planned: list[PlannedVersion]) -> list[list[PlannedVersion]]:
    """The planned versions by table: each continues with the rows of the previous one."""
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


def _add_units(chain: list[PlannedVersion], searches: _Searches, number: int, ranges: Sequence[_Range],
               staging: Staging | None, allowed: TypeConversions, cascades: Cascades, base: Snapshot | None,
               idempotent: bool, witness: str) -> int:
    """A unit for each range, numbered from this number on, as a link for each version of the chain; the number after
    them."""
    first = table_key(chain[0].version.definition)
    may_merge = len(chain) == 1 and first is not None and chain[0].version.definition.versioning is None and \
        not chain[0].version.may_misplace and _orders_base(chain[0], first, base)
    for link, item in enumerate(chain):
        version, target = item.version, None
        if staging is not None and item.in_snapshot and not item.succeeded:
            target = staging.target(version.definition.database, version.definition.name,
                                  history=version.definition.versioning is not None)
        search, key, needs = searches[version.id], table_key(version.definition), cascades.needs(version.id)
        counts = any(source.conversion.needs_counter for later in chain[link + 1:] for source in later.version.sources)
        for nth, (low, high, origin) in enumerate(ranges):
            for source in version.sources:
                origin = Altered(unit=chain[link - 1].units[nth], conversion=source.conversion)
            item.units.append(UnitSpec(
                number=number + nth, version=version.id, definition=version.definition,
                search=search or (NotSearched() if key is None else KeyRange(key, low, high)), origin=origin,
                needs=needs, target=target, type_conversions=allowed, same_columns=not chain[0].version.given,
                idempotent=idempotent, witness=witness, time_zone=version.time_zone,
                may_divide=not item.single_unit_reason, may_misplace=version.may_misplace, counts=counts,
                is_touched=version.is_touched,
                may_merge=may_merge and target is not None and target.merges and isinstance(origin, FromBase)))
    return number + len(ranges)


def _begins(base: Snapshot | None, files: tuple[FileEntry, ...], item: PlannedVersion) -> RowOrigin:
    """The source of the rows of a version that begins with these files of the base."""
    if base is None or not files:
        return BeginsEmpty(is_new=not item.version.is_older_than_log)
    entry = base.table(*item.version.in_base) if item.version.in_base is not None else None
    return FromBase(uri=absolute(base.root), files=files, in_order=entry is None or entry.in_order,
                    misplaced=entry is not None and entry.misplaced)


def _single_unit_reason(chain: list[PlannedVersion], searches: _Searches, base: Snapshot | None,
                        idempotent: bool, moving: Collection[str]) -> str:
    """Why the table cannot be divided into ranges; "" if it can."""
    stores = [search for item in chain if (search := searches[item.version.id]) is not None]
    if any(isinstance(search, ImageMultiset) or search.by_content for search in stores):
        return "some rows are found by their values"
    conversions = [source.conversion for item in chain[1:] for source in item.version.sources]
    if not all(keeps_key(conversion) for conversion in conversions):
        return "DDL gives the rows another key"
    if any(conversion.numbers_rows for conversion in conversions):
        return "DDL numbers the rows"
    if any(conversion.ignores is not None for conversion in conversions):
        return "DDL leaves rows out by the keys of others"
    if stores:
        return "in idempotent mode a row with a taken key is removed, wherever it is" if idempotent \
            else "several unique keys"
    if any(item.version.definition.full_name in moving for item in chain):
        return "in idempotent mode both keys decide whether a row moves from one to the other"
    if chain[0].version.may_misplace:
        return "rows lie in partitions to which they do not belong"
    if any(item.version.definition.versioning is not None for item in chain):
        return "past rows are kept beside the current ones"
    keys = [(item, key) for item in chain if (key := table_key(item.version.definition)) is not None]
    if len(keys) < len(chain):
        return "no key tells one row from another"
    if any(_is_tied(item, key.columns) for item, key in keys):
        return "partial images move rows to other keys"
    return "" if _orders_base(*keys[0], base) else "the base's files are ordered by another collation"


def _is_tied(item: PlannedVersion, key_columns: tuple[int, ...]) -> bool:
    """True if an update may move a row to another key without holding the whole row: its old values are then needed at
    the new key, so all keys are one unit. A JSON diff is not a whole value; columns that the log does not have are in
    no image."""
    columns = len(item.version.definition.columns)
    return any(has_diffs(used) or n_logged(used, columns) < columns or used.use.after_columns >> column & 1
               for used in item.uses for column in key_columns)


def _lows(chain: list[PlannedVersion], files: BaseFiles, n: int, unit_bytes: int,
          allowed: TypeConversions) -> Sequence[KeyValue]:
    """The lower bounds of the units' ranges but the first one's."""
    item = max(chain, key=lambda item: item.bytes)  # whose samples count; the keys are the same in all versions
    uses, definition, n_bytes = item.uses, item.version.definition, sum(item.bytes for item in chain)
    match table_key(definition):
        case IntKey() as key:
            return lows(sampled_keys(uses, definition, key, n, allowed), files.all, int, n, n_bytes, unit_bytes)
        case BytesKey() as key:
            return lows(sampled_keys(uses, definition, key, n, allowed), files.all, bytes, n, n_bytes, unit_bytes)
        case None:
            return []


def _base_files(item: PlannedVersion, base: Snapshot | None) -> BaseFiles:
    """The base's files of this version; a version that the log created has none."""
    entry = base.table(*item.version.in_base) if base is not None and item.version.in_base is not None else None
    return BaseFiles([] if entry is None else [file for file in entry.history or entry.files if file.rows])


def _orders_base(item: PlannedVersion, key: TableKey, base: Snapshot | None) -> bool:
    """True if the base's files are in the order of the version's key: an older program may have known fewer collations.
    """
    entry = base.table(*item.version.in_base) if base is not None and item.version.in_base is not None else None
    return entry is None or entry.key_rules == key.rules
