"""The differences between two snapshots: rows by key, tables, columns."""

__all__ = ["columns", "comparing", "job", "json_lines", "merging", "multisets", "result", "rows"]
