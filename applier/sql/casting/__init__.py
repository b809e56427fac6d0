"""Values of one type as values of another, whole columns at a time, as the servers convert them."""

__all__ = ["byte_strings", "members", "numbers", "shown_numbers", "texts", "values"]
