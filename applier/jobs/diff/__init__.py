"""What differs between two snapshots: rows by key, tables, columns."""

__all__ = ["columns", "job", "json_lines", "multisets", "result", "sql"]
