"""Tables over time: what statements do to definitions, and which definition applies where."""

__all__ = ["conversion", "effects", "history", "in_place", "relevance", "session", "table_versions"]
