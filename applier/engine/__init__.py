"""Who runs tasks: this process, or Spark."""

__all__ = ["executor", "spark"]
