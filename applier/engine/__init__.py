"""Who runs tasks: this process, or Spark."""

__all__ = ["by_work", "choice", "compiling", "executor", "left_out", "room", "spark", "threads"]
