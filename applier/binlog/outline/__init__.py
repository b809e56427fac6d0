"""One pass over a file without decoding rows: its groups, tables, statements, and splits."""

__all__ = ["left_out", "outline", "outline_pass", "outline_recording", "outline_sources", "packed", "samples",
           "statements", "stop"]
