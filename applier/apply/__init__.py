"""From row changes to the remaining rows, by pointers into the log. Values are decoded only at the end."""

__all__ = ["foreign_keys", "index", "merged_changes", "output", "routes", "search", "spec", "tables", "tasks",
           "witnessed"]
