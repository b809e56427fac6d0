"""A log's columns and a table's definition: whether they agree, values, and columns that are missing in images."""

__all__ = [
    "agreement", "alter", "altering", "conditions", "defaults", "definition_differences", "extra_columns", "from_log",
    "generated_columns", "image_values", "replica_defaults", "table_key", "text_kernel", "type_conversions", "values",
    "weighed_keys",
]
