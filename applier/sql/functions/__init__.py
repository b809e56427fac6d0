"""The functions and operators of SQL, over whole columns of rows."""

__all__ = [
    "arithmetic", "bits", "casts", "choices", "codes", "conditions", "dates", "flow_control", "geometry",
    "intervals", "json_documents", "letter_cases", "powers", "roundings", "searches", "sounds", "text_forms",
    "texts",
]
