"""Converts logical dumps to snapshots: SQL files read as a stream, a table's INSERTs as columns, rows sorted by key."""

__all__ = ["job", "sorted_rows", "sql"]
