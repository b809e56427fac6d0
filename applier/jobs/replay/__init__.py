"""The replay: turn binlogs into a snapshot at an exact position."""

__all__ = ["figures", "job", "left_out", "merging", "outlining", "planning", "result", "snapshots_at"]
