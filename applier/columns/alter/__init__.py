"""Rows over an ALTER TABLE: whole tables of one definition become tables of another, as the servers do it."""

__all__ = ["partitions", "rows", "scan_order", "versions"]
