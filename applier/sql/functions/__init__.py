"""The functions and operators of SQL, over whole columns of rows."""

__all__ = [
    "arithmetic", "bits", "calendars", "casts", "choices", "clocks", "codes", "conditions", "document_changes",
    "documents", "geometry", "intervals", "letter_cases", "searches", "text_forms", "texts", "times",
]
