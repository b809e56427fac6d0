"""The grammar of statements that define tables, and their effects."""

__all__ = [
    "alter_actions", "column_grammar", "create_table", "cursor", "ddl", "key_grammar", "partition_grammar",
    "schema_changes", "temporal_defaults", "type_grammar", "versioned_tables",
]
