"""How changes come to their tables: a task walks the log, or a shuffle deals them out."""

__all__ = ["shuffle", "task"]
