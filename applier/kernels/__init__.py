"""Functions that kernels of several packages use, and a list of all kernels."""

__all__ = ["byte_strings", "catalogue", "crc32", "put_kernel", "sha256", "signatures"]
