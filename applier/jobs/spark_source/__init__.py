"""Spark's data source of changes: the parts that Spark itself calls, on its driver and in its tasks."""

__all__ = ["source"]
