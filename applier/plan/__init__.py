"""From outlines to work: which part of the log counts, the definition of each table, and the units of work."""

__all__ = [
    "cascades", "conflicts", "log", "notes", "passes", "planned", "prepared", "span", "stops", "tasks", "units",
    "used_tables", "witness", "witness_results",
]
