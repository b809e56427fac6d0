"""The only folder that imports pyspark: session and stages."""

__all__ = ["executor", "nursery", "session", "stages"]
