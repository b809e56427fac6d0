"""Compares a snapshot with its own files, and with a server."""

__all__ = [
           "canonical",
           "comparing",
           "files",
           "live",
           "plan",
           "result",
           "rows",
           "server",
           "statements",
]
