"""Functions of dates and times."""

__all__ = ["calendars", "clocks", "current", "date_functions", "forms", "times"]
