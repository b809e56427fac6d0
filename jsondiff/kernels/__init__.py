"""The kernels: binary documents, text, numbers and paths, byte by byte."""

__all__ = [
    "apply_kernel", "apply_records", "binary_kernel", "canonical_kernel", "numbers", "path_kernel", "string_kernel",
    "utf8_kernel", "wire_kernel",
]
