"""SQL that changes rows of a server and stops if they are not as expected, for undo and for repairs by a diff; and
events that do the same."""

__all__ = ["log_file", "repair", "script", "set_statements", "table_order", "table_statements"]
