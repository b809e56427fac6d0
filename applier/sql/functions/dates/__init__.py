"""Functions of dates and times."""

__all__ = ["calendars", "clock_texts", "clocks", "current", "date_functions", "forms", "sums", "times"]
