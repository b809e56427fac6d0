"""Jobs whose tasks run where `--engine` says: in this process, or in Spark."""

__all__ = ["exporting", "histories", "replaying"]
