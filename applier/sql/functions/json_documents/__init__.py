"""Functions of JSON documents."""

__all__ = ["documents", "loose_documents", "new_documents"]
