"""Rows as JSON, an object a line: what lines are made of, and the kernel that writes them."""

__all__ = ["steps"]
