"""The state that a reading of the log hands to the next one: a snapshot without rows, at the position where it ended.

It has the definitions of tables and databases at that position, and the prepared XA transactions. As in any base,
its position identifies the log by GTIDs and a digest, so that it can be found in the log of another server, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from applier.binlog.locating.place import Place
from applier.options import ChangesOptions
from applier.schema.definition import TableDefinition
from applier.schema.history.history import SchemaHistory
from applier.snapshot.manifest import BinlogPosition, DatabaseEntry, PreparedTransaction, Snapshot, new_lineage
from applier.snapshot.table_entry import TableEntry


def checkpoint(history: SchemaHistory, definitions: Iterable[TableDefinition], position: BinlogPosition,
               pending: tuple[PreparedTransaction, ...], base: Snapshot | None) -> Snapshot:
    """Return the snapshot of a position with these tables; `base` is the one with which the reading began."""
    databases = tuple(DatabaseEntry(name, charset.charset, charset.collation)
                      for name, charset in sorted(history.databases().items()))
    tables = tuple(TableEntry(one.database, one.name, one)
                   for one in sorted(definitions, key=lambda one: (one.database, one.name)))
    return Snapshot(position, tables, databases=databases, sequences=history.sequences(), prepared=pending,
                    last_column_id=history.last_column_id, lower_case_table_names=history.lower_case_table_names,
                    lineage=(base.lineage if base is not None else "") or new_lineage())


def up_to(options: ChangesOptions, place: Place) -> ChangesOptions:
    """Return the options that read the log up to a position."""
    return replace(options, after=None, gtids=None, maybe_gtids=None, exclude_gtids=None, start_datetime=None,
                   stop_position=place.position, stop_datetime=place.time,
                   stop_gtid=None if place.gtid_set is None else str(place.gtid_set))
