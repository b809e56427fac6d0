"""Functions of dates and times."""

__all__ = ["calendars", "clocks", "forms", "times"]
