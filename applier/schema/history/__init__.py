"""Tables over time: what statements do to definitions, and which definition is in force where."""

__all__ = ["conversion", "history", "table_versions"]
