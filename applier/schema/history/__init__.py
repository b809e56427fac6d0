"""Tables over time: the effects of statements on definitions, and which definition applies where."""

__all__ = [
    "conversion", "effects", "history", "in_place", "relevance", "session", "stored_objects", "table_versions",
]
