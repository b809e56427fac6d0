"""The kernels that write events anew."""

__all__ = ["framing_kernel", "records", "rewrite_kernel"]
