"""Rows that are found by several keys."""

__all__ = ["row_parts", "row_store", "store_kernel", "store_layout", "store_slots"]
