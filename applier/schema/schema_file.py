"""The tables of a snapshot as a file of SQL that makes them."""

from collections.abc import Iterable

from applier.schema.definition import TableDefinition

_WITHOUT_CHECKS = "SET foreign_key_checks = 0;\n\n"  # tables may refer to each other, and to those that come later


def schema_file(definitions: Iterable[TableDefinition]) -> str:
    """CREATE TABLE statements, in the order given."""
    tables = list(definitions)
    before = _WITHOUT_CHECKS if any(table.foreign_keys for table in tables) else ""
    return before + "".join(table.to_sql() + ";\n\n" for table in tables)
