"""The files of an imported table for the manifest.

The files of a system-versioned table hold all its rows, and readers find the current ones in other files, as after a
replay (applier.apply.output.unit_files).
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.output.unit_files import table_writer
from applier.columns.alter.versions import rows_shown
from applier.columns.table_key import table_key
from applier.errors import SchemaError
from applier.jobs.importing.sorted_rows import SortedRows
from applier.schema.definition import table_schema
from applier.schema.versioning import ENDS_OF_TIME, Versioning
from applier.snapshot.file_entries import FileEntry
from applier.snapshot.stored_columns import StoredColumns
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import TableTarget, write_empty

_DAY = 86_400_000_000


def table_entry(rows: SortedRows, place: TableTarget) -> TableEntry:
    """Finish a table's rows; `place` is where readers find them. Raises ReplayStopped (1062), as SortedRows does, and
    SchemaError if the times of a system-versioned table are in another time zone."""
    definition, shown = rows.definition, rows.definition.shown
    key = table_key(shown)
    names, form, rules = (key.names, key.form, key.rules) if key else ((), None, ())
    files = rows.finish()
    history: list[FileEntry] = []
    if definition.versioning is not None:
        history = [file for file in files if file.rows]  # a replay also names none for a table without rows
        with table_writer(place, 0, shown) as writer:
            for block in rows.blocks(history):
                _check_times(block, definition.versioning, definition.full_name)
                writer.write(rows_shown(block, definition))
            files = writer.close() or [write_empty(place, table_schema(shown), names, StoredColumns.of(shown))]
    return TableEntry(shown.database, shown.name, definition, names, form, tuple(files), rules,
                      tuple(history), folder=place.folder if place.merges else None)


def _check_times(rows: pa.Table, versioning: Versioning, table: str) -> None:
    """Check the time zone of row times: read in a wrong one, current rows would be past ones, ending hours before the
    end of time."""
    ends = rows.column(versioning.row_end).cast(pa.int64())
    for end in ENDS_OF_TIME:
        apart = pc.abs(pc.subtract(ends, end))
        if pc.any(pc.and_(pc.greater(apart, 0), pc.less(apart, _DAY))).as_py():
            raise SchemaError("the times of a system-versioned table's rows are in another time zone than the dump's "
                              "statements or --system-time-zone say",
                              table=table,
                              hint="dump it without --skip-tz-utc")
