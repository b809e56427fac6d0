"""Parquet snapshots: manifest, reading, writing, publishing."""

__all__ = [
    "FILE_BYTES", "checks", "date_marks", "digest", "file_entries", "location", "manifest", "publish", "reader",
    "shards", "staging", "table_entry", "writer",
]

FILE_BYTES = 64 << 20
"""The size that files of rows have where nothing else is asked for."""
