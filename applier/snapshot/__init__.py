"""Parquet snapshots: manifest, reading, writing, publishing."""

__all__ = ["checks", "date_marks", "digest", "location", "manifest", "publish", "reader", "staging", "writer"]
