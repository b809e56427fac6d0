"""A unit of a table while changes are applied to it, and how it is bound to what a log says of the table."""

__all__ = ["table_walk", "unit"]
