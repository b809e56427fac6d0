"""Functions of JSON documents."""

__all__ = ["document_changes", "documents"]
