"""Choosing the key that finds a row, and searching by it. Stands alone: imports nothing of the applier."""

__all__ = ["choose", "collation", "kernel_cache", "keybytes", "keybytes_kernel", "keyrules", "memory"]
