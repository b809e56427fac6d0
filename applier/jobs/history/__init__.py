"""The history of a table: every version of every row, and from when to when it was valid."""

__all__ = ["commits", "files", "job", "listing"]
