"""The history of a table: every version of every row, with the time when it was valid."""

__all__ = ["commits", "files", "job", "listing", "side_by_side"]
