"""Indexes in which rows are found: by one key, by several, or by all that a row holds."""

__all__ = [
    "byte_index_kernel", "diff_kernel", "diff_nodes", "key_index", "multiset", "pointer_kernel", "row_store",
    "status", "store_kernel", "store_layout", "store_slots", "watched_kernel", "watched_rows",
]
