"""What a log and a schema both know: types, character sets, collations, time zones, dates that are none."""

__all__ = [
    "character_sets", "client_sql", "names", "reader_values", "sequences", "session", "type_registry", "types",
    "value_sizes", "values", "versions", "wire_types",
]
