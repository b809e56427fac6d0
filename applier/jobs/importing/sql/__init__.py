"""Reads SQL dumps: kernels find statements in a stream, and INSERTs and LOAD DATA files as columns."""

__all__ = ["dump_text", "field_kernel", "inserts", "literals", "load_data", "scan_kernel", "session", "spans",
           "tuple_kernel"]
