"""Indexes that find rows: by one key, by several, or by whole rows."""

__all__ = [
    "awaited_values", "byte_keys_kernel", "column_pointers", "diff_kernel", "diff_nodes", "image_witness",
    "int_keys_kernel", "key_index", "key_index_kernel", "multiset", "pointer_kernel", "row_parts", "row_store",
    "status", "store_kernel", "store_layout", "store_slots", "unit_index",
]
