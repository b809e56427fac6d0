"""The time of an event as mysqlbinlog writes it."""

import time


def event_time(timestamp: int) -> str:
    """Seconds since 1970 in local time; the hour has no leading zero."""
    local = time.localtime(timestamp)
    return f"{time.strftime('%y%m%d', local)} {local.tm_hour:2}{time.strftime(':%M:%S', local)}"
