"""The effects of foreign keys on rows outside the log: ON DELETE and ON UPDATE, by value or table after table."""

__all__ = ["cascades", "foreign_links", "parent_changes", "parent_events"]
