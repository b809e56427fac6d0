"""Parquet snapshots: manifest, reading, writing, publishing."""
