"""The job behind `applier publish`: a snapshot's tables in a catalog of a lake, by the snapshot's own files."""

__all__ = ["job", "result"]
