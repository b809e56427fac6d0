"""The replay: binlogs become a snapshot at an exact position."""

__all__ = ["job", "outlining", "planning", "result", "snapshots_at"]
