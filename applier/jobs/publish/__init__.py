"""The job behind `applier publish`: publish a snapshot's tables in a lake, with the snapshot's own files."""

__all__ = ["figures", "job", "result"]
