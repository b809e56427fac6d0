"""Values as servers read and write them: numbers, dates and times, addresses, bytes."""

__all__ = [
    "addresses", "byte_columns", "decimals", "doubles", "members", "scanned_times", "temporal_literals", "time_zones",
    "value_texts", "zero_dates", "zone_times",
]
