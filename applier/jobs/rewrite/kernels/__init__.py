"""The kernels that write events again."""

__all__ = ["documents_kernel", "fill_kernel", "filter_kernel", "framing_kernel", "records", "rewrite_kernel"]
