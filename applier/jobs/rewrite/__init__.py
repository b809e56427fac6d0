"""Writes an archive anew, smaller: less in row images, compressed; and proves that it replays to the same rows."""

__all__ = ["job", "result"]
