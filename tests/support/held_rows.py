"""The expected contents of published tables: the rows of a snapshot, as readers of its files see them."""

from applier.schema.definition import table_schema
from applier.snapshot import manifest
from applier.snapshot.files.stored_columns import StoredColumns
from applier.snapshot.files.value_marks import ValueMarks
from applier.snapshot.reader import read_unit


def held(snapshot):
    """The rows of a snapshot's tables, as its files have them."""
    loaded = manifest.load(str(snapshot))
    for entry in loaded.tables:
        definition = entry.definition.shown
        rows = read_unit(loaded.root, list(entry.files), table_schema(definition))
        columns = StoredColumns.of(definition)
        yield (entry.database, entry.name), ValueMarks(columns.charsets).taken_from(columns.as_stored(rows, "decimal"))
