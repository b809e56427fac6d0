"""Changes with whole rows before and after each."""

__all__ = ["base_from_log", "first_images", "related_tables", "whole_rows"]
