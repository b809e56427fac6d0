"""Where a replay starts and stops, and what was at fault where it had to."""

__all__ = [
    "base_position", "gtid_kernel", "gtid_texts", "start_position", "stop_error", "stop_places", "stop_position",
    "stopped_key",
]
