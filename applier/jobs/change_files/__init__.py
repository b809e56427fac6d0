"""`applier changes`: the row changes of tables as JSON lines, CSV, Parquet or Arrow, in files or on stdout."""

__all__ = ["described", "images", "job", "tables"]
