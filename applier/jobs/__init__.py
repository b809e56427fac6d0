"""The jobs that people ask for: a package or module for each. A job prints nothing."""

__all__ = ["explain", "exporting", "importing", "on_spark", "replay", "report", "show", "verify"]
