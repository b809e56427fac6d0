"""What a log and a schema both know: types, character sets, collations, time zones, dates that are none."""

__all__ = [
    "addresses", "byte_columns", "charset_tables", "charsets", "client_charsets", "client_codecs", "client_sql",
    "collations", "decimals", "labels", "members", "names", "scanned_times", "sequences", "session",
    "temporal_literals", "time_zones", "type_registry", "types", "value_sizes", "value_texts", "versions",
    "wire_types", "zero_dates", "zone_times",
]
