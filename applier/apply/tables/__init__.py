"""A unit of a table while changes are applied to it, and how it is bound to what a log says of the table."""

__all__ = ["logged_table", "table_maps", "table_walk", "traced_rows", "unit", "unit_outcome"]
