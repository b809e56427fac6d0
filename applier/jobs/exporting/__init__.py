"""Writes snapshots as files that a server loads."""

__all__ = ["job", "task"]
