"""Tables between which partitions were exchanged: whose rows go where, as one group of units.

Each version is one unit, whatever its size, and all of a group are applied by one task: rows of one table become those
of another, which a replay only knows when it has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from applier.apply.spec import RowSearch, UnitSpec
from applier.columns.type_conversions import TypeConversions
from applier.plan.log import UsedTable
from applier.plan.planned import PlannedVersion
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import BEFORE_THE_LOG, TableVersion
from applier.snapshot.manifest import FileEntry, Snapshot
from applier.snapshot.staging import Staging

SINGLE_UNIT_REASON = "rows were exchanged with another table"


def exchanged_versions(versions: Sequence[TableVersion], uses: Mapping[int, list[UsedTable]],
                       history: SchemaHistory) -> list[PlannedVersion]:
    """All versions of a group, in their order."""
    sources = {source for version in versions for source in (version.previous, version.joined)}
    return [PlannedVersion(version, uses.get(version.id, []), [], version.id in sources,
                           version.end is None and history.is_wanted(version), group=versions[0].id)
            for version in versions]


def add_units(group: Sequence[PlannedVersion], searches: Mapping[int, RowSearch], first_number: int,
              base: Snapshot | None, staging: Staging, allowed: TypeConversions,
              files_of: Mapping[int, tuple[FileEntry, ...]], idempotent: bool) -> int:
    """A unit for each version of a group; the number after theirs. `files_of` are the base's, by version."""
    made: dict[int | None, UnitSpec] = {}
    for number, item in enumerate(group, first_number):
        version, place = item.version, None
        if item.in_snapshot and not item.succeeded:
            place = staging.place(version.definition.database, version.definition.name)
        files = files_of.get(version.id, ())
        unit = UnitSpec(number, version.definition, None, None, base if files else None, files, place,
                        searches[version.id], version.id, made.get(version.previous), version.conversion, allowed,
                        version.start != BEFORE_THE_LOG and version.in_base is None, made.get(version.joined),
                        version.joining, item.group, idempotent=idempotent)
        made[version.id] = unit
        item.units.append(unit)
        item.tied = SINGLE_UNIT_REASON
    return first_number + len(group)
