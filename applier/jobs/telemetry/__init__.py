"""Figures and lineage of a run, for monitoring: a job says what it did, and this package writes it."""

__all__ = ["figures", "files", "run"]
