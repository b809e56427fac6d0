"""Iceberg tables, by pyiceberg: no row is read or written, only the catalog and its metadata."""

__all__ = ["catalog", "checking", "needs", "publication", "states"]
