"""From row changes to the rows that are left: by pointers into the log, which are decoded only at the end."""

__all__ = ["foreign_keys", "index", "merged_changes", "output", "routes", "search", "spec", "tables", "tasks",
           "witnessed"]
