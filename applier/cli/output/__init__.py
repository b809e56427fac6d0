"""Print results: each verb's as text and as JSON."""

__all__ = [
    "compared", "diagnosed", "differences", "documents", "explained", "grids", "located", "status", "summarized",
    "versions",
]
