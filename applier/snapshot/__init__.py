"""Parquet snapshots: manifest, reading, writing, publishing."""

__all__ = [
    "FILE_BYTES", "checks", "date_marks", "digest", "location", "manifest", "publish", "reader", "staging", "writer",
]

FILE_BYTES = 64 << 20
"""The size that files of rows have where nothing else is asked for."""
