"""What a running server tells of the tables of a log that begins after they were made: definitions, and rows of now."""

__all__ = ["log"]
