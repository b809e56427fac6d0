"""MySQL's JSON: its binary documents, its text, its paths and partial updates. Stands alone: imports nothing of the
applier.

Documents one by one are plain Python values (values): decode, encode, text and equality need nothing else. Columns of
them (binary, normalize, apply) are Arrow's, and have kernels.
"""

__all__ = [
    "apply", "binary", "binary_kernel", "diff", "encode", "normalize", "path", "sql", "string_kernel", "text",
    "values", "wire",
]
