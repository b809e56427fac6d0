"""Writes snapshots as files that a server can load."""

__all__ = ["cells", "job", "statements", "task", "text_kernel"]
