"""From outlines to work: which part of the log counts, what each table was there, and who applies which keys."""

__all__ = [
    "cascades", "conflicts", "log", "notes", "passes", "planned", "prepared", "span", "stops", "tasks", "units",
    "used_tables", "witness", "witness_results",
]
