"""Objects other than tables: triggers of the tables to be undone, and other objects that the chosen transactions
dropped, which an undo names but does not restore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from applier.jobs.changes.event_groups.groups import FileGroups
from applier.jobs.undo.table_undo import TableUndo
from applier.schema.history.stored_objects import StoredObjects
from applier.schema.stored_object import StoredObject
from applier.schema.table_filter import TableFilter


def lost_objects(objects: StoredObjects, found: Mapping[int, FileGroups], filter: TableFilter
                 ) -> tuple[StoredObject, ...]:
    """Return the objects that chosen groups dropped and the log did not create again, of the tables and databases of
    `filter`."""
    return tuple(one for one in objects if one.end is not None and one.end[0] in found
                 and bool(found[one.end[0]].are_wanted(np.array([one.end[1] - 1]))[0])
                 and not objects.is_there(one.object) and one.is_about(filter))


def notes_on_guards(tables: Sequence[TableUndo], objects: StoredObjects) -> Iterator[str]:
    """Yield lines on triggers that stop the SQL for these tables, of those that the log made."""
    for table in tables:
        counts = {"INSERT": table.inserted, "UPDATE": table.updated, "DELETE": table.deleted}
        for trigger in objects.triggers((table.definition.database, table.definition.name)):
            if counts.get(trigger.object.event.rpartition(" ")[2]):
                yield (f"{trigger} is there, so this SQL will stop: drop the trigger first, and create it again "
                       "afterwards, or use --format binlog, which runs no triggers")


def notes_on_triggers(tables: Sequence[TableUndo], objects: StoredObjects) -> Iterator[str]:
    """Yield lines on triggers that made values of these tables' rows, or rows of other tables."""
    for table in tables:
        for trigger in objects.triggers((table.definition.database, table.definition.name)):
            sets = trigger.sets(table.definition.flavour)
            if trigger.object.event.startswith("AFTER"):
                yield (f"{trigger}: what it changed in other tables is taken back with the transactions, unless "
                       "--tables or --ignore-tables leaves these tables out")
            elif sets and (table.in_conflict or table.partly):
                yield (f"{trigger} sets {', '.join(sets)}: where others have changed a row since, these values may be "
                       "the trigger's, and count as changed by them")
