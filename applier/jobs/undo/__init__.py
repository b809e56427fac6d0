"""Undoes chosen transactions: restores the rows before them, unless somebody has changed the rows since."""

__all__ = ["conflict", "job", "result"]
