"""The replay: binlogs become a snapshot at an exact position."""

__all__ = ["job", "result", "snapshots_at"]
