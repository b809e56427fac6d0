"""Notes for the user on the replayed tables, one line each: for the terminal and the report."""

from __future__ import annotations

from applier.errors import UsageError
from applier.plan.used_tables import UsedTable
from applier.schema.ddl.schema_changes import TableName
from applier.schema.history.history import SchemaHistory
from applier.schema.table_filter import TableFilter


def notes_on_names(names: set[TableName], tables: TableFilter) -> list[str]:
    """Lines about --tables that name no table, of all `names` that tables had: a typing error would otherwise silently
    make an empty snapshot."""
    return [f"--tables {entry}: no such table is in the log, --schema or --base" for entry in
            tables.without_match(names)]


def check_names(names: set[TableName], tables: TableFilter) -> None:
    """Raise UsageError where --tables name nothing, of all `names` that tables had."""
    if tables.tables and not any(tables.wanted(*name) for name in names):
        entries = ", ".join(tables.without_match(()))
        raise UsageError(f"no table of the log, --schema or --base matches --tables {entries}",
                         hint="`applier summary --binlogs …` lists the tables that a log changes")


def notes_on_definitions(history: SchemaHistory) -> list[str]:
    """Lines about tables that the log's metadata defines."""
    return [f"{table}: defined by what the log says of its columns and primary key, and empty before its first rows "
            "there; defaults, other keys and generated columns are not known" for table in history.defined_by_log]


def notes_on_charsets(history: SchemaHistory, used: list[UsedTable]) -> list[str]:
    """Lines about tables whose text may be read in a wrong character set: they inherit the set of a database that was
    made before the log begins, and their columns in the log do not tell it. If values have lengths that fit no other
    set, the rows would not agree with the definition."""
    notes = {}
    for table in used:
        for version in table.versions:
            definition = version.definition
            collations = table.table_map.collations(definition.flavour)
            if definition.full_name in history.charset_assumed and any(
                    column.type.charset == definition.charset and known is None
                    and (column.type.base.endswith("text") or definition.charset not in ("utf8mb4", "utf8mb3"))
                    for column, known in zip(definition.columns, collations, strict=False)):
                notes[definition.full_name] = (
                    f"{definition.full_name}: its text is read as {definition.charset}, the server's character set, as "
                    "its database was made before the log begins; if that has another, say so with CREATE DATABASE "
                    f"{definition.database} CHARACTER SET … in --schema")
    return list(notes.values())


def notes_on_columns(used: list[UsedTable]) -> list[str]:
    """Lines about tables that have more or fewer columns than the log (AP-POS), which is also what a definition of
    another time looks like."""
    notes = {}
    for table in used:
        if len(table.versions) == 1:  # otherwise the rows may be of either version
            definition, logged = table.versions[0].definition, len(table.table_map.types)
            if logged != (here := len(definition.columns)):
                what = "inserts give the others their default" if logged < here else "the others are left out"
                if any(column.default is not None and column.default.kind == "now" and column.type.base != "timestamp"
                       for column in definition.columns[logged:]):
                    what += ", CURRENT_TIMESTAMP being the event's time in UTC"
                notes[definition.full_name] = \
                    f"{definition.full_name}: the log's rows have {logged} columns, the table has {here}: {what}"
    return list(notes.values())
