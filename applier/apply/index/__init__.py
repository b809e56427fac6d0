"""Indexes that find rows: by one key, by several, or by whole rows."""

__all__ = [
    "byte_keys_kernel", "column_pointers", "diff_kernel", "diff_nodes", "int_keys_kernel", "key_index",
    "key_index_kernel", "multiset", "pointer_kernel", "status", "store", "unit_index", "witness",
]
