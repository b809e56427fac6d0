"""The change feed: the row changes of a table, as columns, in commit order."""

__all__ = ["columns", "commit_order", "feed", "first_images", "following", "groups", "groups_kernel", "job", "log",
           "log_files", "related_tables", "row_statements", "statements", "stored", "whole_rows"]
