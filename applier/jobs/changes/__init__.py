"""The change feed: the row changes of a table, as columns, in commit order."""

__all__ = [
    "change_feed", "columns", "commit_order", "event_groups", "feed", "follow", "job", "log", "log_files",
    "row_statements", "statements", "stored", "whole",
]
