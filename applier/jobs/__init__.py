"""What people ask for, a package or module a job. A job prints nothing."""

__all__ = ["explain", "exporting", "importing", "on_spark", "replay", "report", "show", "verify"]
