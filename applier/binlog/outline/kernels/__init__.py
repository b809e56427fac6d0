"""The kernels of the one pass over a file, and the records that they share."""

__all__ = ["outline_kernel", "outline_recording", "outline_rule", "outline_tables"]
