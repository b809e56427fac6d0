"""The routes by which changes reach their tables: a task walks the log, or a shuffle distributes them."""

__all__ = ["shuffle", "task"]
