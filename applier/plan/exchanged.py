"""Tables that exchanged partitions, whose rows move between them, as one group of units.

Each version is one unit, whatever its size, and one task applies all of a group: rows of one table become rows of
another, which are known only during the replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from applier.apply.spec import Altered, Exchanged, ExchangeGroup, RowOrigin, RowSearch, UnitSpec
from applier.columns.type_conversions import TypeConversions
from applier.plan.planned import PlannedVersion
from applier.plan.used_tables import UsedTable
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import TableVersion
from applier.snapshot.staging import Staging

SINGLE_UNIT_REASON = "rows were exchanged with another table"


def exchanged_versions(versions: Sequence[TableVersion], uses: Mapping[int, list[UsedTable]],
                       history: SchemaHistory) -> list[PlannedVersion]:
    """All versions of a group, in order."""
    sources = {source.version for version in versions for source in version.sources}
    return [PlannedVersion(version, uses.get(version.id, []), [], version.id in sources,
                           version.end is None and history.is_wanted(version), group=versions[0].id)
            for version in versions]


def add_units(number: int, group: Sequence[PlannedVersion], searches: Mapping[int, RowSearch], first_number: int,
              begins: Callable[[PlannedVersion], RowOrigin], staging: Staging | None, allowed: TypeConversions,
              idempotent: bool, witness: str) -> int:
    """Make a unit for each version of the group `number`; returns the next free number of a unit. `begins` returns the
    source of a version's rows if no other version has them."""
    made: dict[int, UnitSpec] = {}
    for unit_number, item in enumerate(group, first_number):
        version, target = item.version, None
        if staging is not None and item.in_snapshot and not item.succeeded:
            target = staging.target(version.definition.database, version.definition.name,
                                  history=version.definition.versioning is not None)
        unit = UnitSpec(
            number=unit_number, version=version.id, definition=version.definition, search=searches[version.id],
            origin=_origin([Altered(unit=made[source.version], conversion=source.conversion)
                            for source in version.sources]) or begins(item),
            needs=ExchangeGroup(group=number), target=target, type_conversions=allowed,
            same_columns=not version.given, idempotent=idempotent, witness=witness,
            time_zone=version.time_zone, may_misplace=version.may_misplace, is_touched=version.is_touched,
            counts=any(source.conversion.needs_counter for later in group for source in later.version.sources))
        made[version.id] = unit
        item.units.append(unit)
        item.single_unit_reason = SINGLE_UNIT_REASON
    return first_number + len(group)


def _origin(sources: Sequence[Altered]) -> RowOrigin | None:
    match sources:
        case [own, other]:
            return Exchanged(own=own, other=other)
        case [own]:
            return own
        case _:
            return None
