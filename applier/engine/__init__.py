"""Who runs tasks: this process, or Spark."""

__all__ = ["by_work", "choice", "executor", "full_disk", "pandas_door", "spark", "threads"]
