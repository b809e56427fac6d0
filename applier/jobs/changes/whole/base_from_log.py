"""A base with the rows that tables had before the log, as far as the log shows them: a snapshot at its beginning."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from applier.jobs.importing.sorted_rows import SortedRows, table_entry
from applier.plan.span import LogSpan
from applier.schema.definition import TableDefinition
from applier.schema.history.history import SchemaHistory
from applier.schema.schema_file import schema_file
from applier.snapshot.manifest import BinlogPosition, DatabaseEntry, Snapshot, new_lineage
from applier.snapshot.publish import begin


def base_from_log(span: LogSpan, history: SchemaHistory, definitions: Sequence[TableDefinition],
                  rows: Sequence[pa.Table], folder: str) -> Snapshot:
    """Write a base into a folder: tables before the log, each with its rows."""
    first = span.outlines[0]
    with begin(f"{folder}/base", lasts=False) as staging:
        entries = []
        for definition, table in zip(definitions, rows, strict=True):
            target = staging.target(definition.database, definition.name)
            sorted_rows = SortedRows(definition, target, folder)
            if table.num_rows:
                sorted_rows.add(table)
            entries.append(table_entry(sorted_rows, target))
        databases = tuple(DatabaseEntry(name, charset.charset, charset.collation)
                          for name, charset in sorted(history.databases().items()))
        snapshot = Snapshot(BinlogPosition(first.name, first.start, "", None, span.flavour), tuple(entries),
                            databases=databases, last_column_id=history.last_column_id,
                            lower_case_table_names=history.lower_case_table_names, lineage=new_lineage())
        return staging.commit(snapshot, schema_file(definitions), {})
