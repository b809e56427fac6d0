"""The ways of rows through the log."""

__all__ = ["chains", "replaced_rows", "row_keys", "traced_table"]
