"""Writes an archive again, with smaller or fuller row images, compressed; and proves that it replays to the same
rows."""

__all__ = ["job", "result"]
