"""Lakes: how a version becomes visible, which files it keeps, and tables that are merged when they are read."""

__all__ = ["compaction", "key_order", "lake_needs", "lake_staging", "merged_rows", "recent_values"]
