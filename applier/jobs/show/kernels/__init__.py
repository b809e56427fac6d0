"""Events and rows as the text that mysqlbinlog prints, by kernels."""

__all__ = ["choice_kernel", "events_text_kernel", "fixed_texts", "value_kernel", "walk_records"]
