"""Compressed events, and the memory of what came out of them."""

__all__ = ["compressed", "compressed_kernel", "inflated"]
