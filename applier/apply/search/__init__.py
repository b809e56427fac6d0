"""The keys of changes, and how a change finds its row by them (FIND)."""

__all__ = ["change_keys", "multiset_search", "row_keys", "row_pieces", "unit_search"]
