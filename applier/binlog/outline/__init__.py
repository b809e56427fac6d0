"""One pass over a file without decoding rows: its groups, tables, statements, and splits."""

__all__ = ["outline", "outline_pass", "outline_recording", "packed", "samples", "statements", "stop"]
