"""Rows as JSON, one object per line: the parts of lines, and the kernel that writes them."""

__all__ = ["steps"]
