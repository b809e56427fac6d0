"""Writes binlogs: rows in columns become the events that a server writes, for tests, benchmarks and warming up."""

__all__ = ["row_encoder", "writer"]
