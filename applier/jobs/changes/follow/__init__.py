"""The job that follows an archive that grows."""

__all__ = ["following"]
