"""What a local file system offers, and what goes wrong on it."""

__all__ = ["durable", "full_disk", "lost_pages", "new_files", "temporary"]
