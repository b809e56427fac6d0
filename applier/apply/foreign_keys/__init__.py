"""The effects of foreign keys on rows outside the log, ON DELETE and ON UPDATE: by value, or all connected tables
together."""

__all__ = ["cascades", "foreign_links", "parent_changes", "parent_events"]
