"""Where a replay starts and stops, and which change was the cause if it had to stop."""

__all__ = [
    "base_position", "gtid_kernel", "gtid_texts", "start_position", "stop_error", "stop_position", ]
