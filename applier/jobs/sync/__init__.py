"""The job that follows a growing archive: each round makes a lake's next version, and publishes it."""

__all__ = ["health", "job", "round"]
