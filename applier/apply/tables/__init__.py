"""Units of tables while changes are applied to them, and how a table's description in a log is bound to them."""

__all__ = ["logged_table", "table_maps", "table_walk", "traced_rows", "unit", "unit_outcome"]
