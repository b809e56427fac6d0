"""Writes binlogs: turns rows in columns into a server's events, for users' own logs, tests, benchmarks."""

__all__ = ["column_encoder", "compressed", "event_encoder", "row_encoder", "values", "wire_columns", "writer"]
