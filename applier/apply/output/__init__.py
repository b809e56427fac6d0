"""The remaining rows, decoded into Arrow batches in key order, and their files."""

__all__ = [
    "altered_rows", "base_rows", "counted_rows", "ignored_rows_kernel", "image_decoder", "image_reader", "merged_unit",
    "misplaced_rows", "row_steps", "rows", "rows_kernel", "unit_files",
]
