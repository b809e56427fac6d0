"""What kernels of several packages stand on, and a list of all of them."""

__all__ = ["byte_strings", "catalogue", "crc32", "put_kernel", "sha256", "signatures"]
