"""Functions of dates and times."""

__all__ = ["calendars", "clocks", "current", "forms", "times"]
