"""One pass over a file that decodes no row: its groups, tables, statements, and runs of whole groups."""

__all__ = ["outline", "outline_pass", "outline_recording", "stop"]
