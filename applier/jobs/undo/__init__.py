"""Undoes chosen transactions: restores the rows before them, unless others have changed the rows since."""

__all__ = ["conflict", "job", "result"]
