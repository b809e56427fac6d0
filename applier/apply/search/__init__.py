"""The keys of changes, and how a change finds its row by them (FIND)."""

__all__ = [
    "access_methods", "change_keys", "key_search", "keyed_changes", "multiset_search", "row_access", "row_keys",
    "row_part_encoder", "store_search", "unit_search",
]
