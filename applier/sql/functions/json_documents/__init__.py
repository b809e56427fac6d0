"""Functions of JSON documents."""

__all__ = ["document_comparisons", "documents", "loose_documents", "new_documents"]
