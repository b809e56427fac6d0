"""Converts values of expressions to what columns store: one module for each step, and one for each kind of column."""

__all__ = ["constants", "conversion", "documents", "forms", "targets"]
