"""The replay: turn binlogs into a snapshot at an exact position."""

__all__ = ["job", "left_out", "outlining", "planning", "result", "snapshots_at"]
