"""Converts values of one type to another, whole columns at a time, as the servers do."""

__all__ = ["byte_strings", "invalid_dates", "large_time_numbers", "members", "number_texts", "numbers", "shown_numbers",
           "temporal_numbers", "temporal_texts", "temporals", "texts", "values"]
