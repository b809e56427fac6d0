"""Rows that are in the way of an undo."""

__all__ = ["conflicts", "no_partition", "references", "taken_keys"]
