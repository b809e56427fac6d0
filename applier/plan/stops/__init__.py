"""Where a replay starts and stops, and which change was at fault if it had to stop."""

__all__ = [
    "base_position", "executed", "gtid_kernel", "gtid_texts", "start_position", "stop_error", "stop_places",
    "stop_position", "stopped_key",
]
