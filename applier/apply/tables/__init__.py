"""A unit of a table while changes are applied to it, and its binding to the table's description in a log."""

__all__ = ["logged_table", "table_maps", "table_walk", "traced_rows", "unit", "unit_outcome"]
