"""Writes snapshots as files that a server loads."""

__all__ = ["cells", "job", "statements", "task", "text_kernel"]
