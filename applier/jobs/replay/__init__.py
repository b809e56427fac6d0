"""The replay: binlogs become a snapshot at an exact position."""

__all__ = ["job", "outlining", "result", "snapshots_at"]
