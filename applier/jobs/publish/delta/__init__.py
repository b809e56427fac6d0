"""Delta Lake tables, by deltalake: one directory per table, with the snapshot's own files linked or copied into it."""

__all__ = ["publication", "states", "storage"]
