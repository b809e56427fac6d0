"""Shared by logs and schemas: types, character sets, collations, time zones, invalid dates."""

__all__ = [
    "character_sets", "client_sql", "names", "reader_values", "sequences", "session", "type_registry", "types",
    "value_sizes", "values", "versions", "wire_types",
]
