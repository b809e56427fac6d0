"""One pass over a file without decoding rows: its groups, tables, statements, and splits."""

__all__ = ["group_ids", "kernels", "left_out", "outline", "outline_notes", "outline_pass", "packed", "samples", "stop"]
