"""Jobs whose tasks run in Spark."""

__all__ = ["exporting", "replaying"]
