"""Writes an archive again: with less or more in row images, compressed; and proves that it replays to the same rows."""

__all__ = ["job", "result"]
