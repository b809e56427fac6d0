"""Files of a snapshot: their entries in the manifest, digests, row groups, settings, and the types of their columns."""

__all__ = [
    "checks", "digest", "file_entries", "file_settings", "location", "partitions", "row_groups", "shards",
    "stored_columns", "unsigned_bigints", "value_marks",
]
