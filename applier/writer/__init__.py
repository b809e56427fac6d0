"""Writes binlogs: rows in columns become the events that a server writes, for people's own logs, tests, benchmarks."""

__all__ = ["column_encoder", "compressed", "event_encoder", "row_encoder", "values", "wire_columns", "writer"]
