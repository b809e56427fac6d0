"""Converts the rows of whole tables over an ALTER TABLE, as the servers do."""

__all__ = ["new_numbers", "numbers", "partitions", "rows", "scan_order", "versions"]
