"""Logical dumps to snapshots: SQL files read as a stream, a table's INSERTs as columns, rows sorted by their key."""

__all__ = ["job"]
