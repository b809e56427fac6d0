"""The only folder that imports pyspark: session and stages."""

__all__ = ["executor", "prefork", "running", "session", "stages"]
