"""SQL dumps: statements found in a stream, INSERTs and LOAD DATA files as columns, by kernels."""

__all__ = ["dump_text", "field_kernel", "inserts", "load_data", "scan_kernel", "session", "spans", "tuple_kernel"]
