"""Functions of JSON documents."""

__all__ = ["loose_documents"]
