"""SQL that creates views over the files of a snapshot, of changes or of a history, for DuckDB or Spark SQL."""

__all__ = ["job", "querying"]
