"""SQL that changes rows of a server and stops where they are not as expected: for undo, and for repairs by a diff."""

__all__ = ["repair", "script", "table_order", "table_statements"]
