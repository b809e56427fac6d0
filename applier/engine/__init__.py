"""Runs tasks: in this process, or in Spark."""

__all__ = ["by_work", "choice", "compiling", "executor", "left_out", "room", "spark", "threads"]
