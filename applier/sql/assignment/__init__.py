"""Converts values of expressions to what columns store, by the form of a value and the kind of column."""

__all__ = ["constants", "conversion", "documents", "forms", "targets"]
