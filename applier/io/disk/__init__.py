"""The services of a local file system, and the errors on it."""

__all__ = ["durable", "full_disk", "lost_pages", "new_files", "temporary"]
