"""Tables of Delta Lake, by deltalake: a table a directory, with the snapshot's own files linked or copied into it."""

__all__ = ["publication", "states", "storage"]
