"""Print results: each verb's as text and as JSON."""

__all__ = [
    "compared", "diagnosed", "differences", "explained", "grids", "lakes", "located", "results", "standings", "status",
    "summarized", "undone", "versions", "written",
]
