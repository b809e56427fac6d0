"""Rows events decoded into batches of changes."""

__all__ = ["change_records", "changes", "image_kernel", "image_pointers", "layout", "partial_updates",
           "rows_event_kernel", "same_bytes", "table_ids", "table_ids_kernel", "value_kernel"]
