"""Compressed events, and the memory of their contents."""

__all__ = ["compressed", "compressed_kernel", "inflated"]
