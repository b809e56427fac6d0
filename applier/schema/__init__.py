"""Table definitions and their history."""

__all__ = [
    "allowed", "checks", "column_ids", "ddl", "defaults", "definition", "dump_header", "engines", "foreign_keys",
    "history", "key_infos", "other_flavour", "partitions", "references", "schema_file", "sibling_order",
    "stored_object", "table_filter", "table_options", "table_parts", "versioning",
]
