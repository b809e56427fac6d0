"""Spark's data source of changes: what Spark itself calls, on its driver and in its tasks."""

__all__ = ["source"]
