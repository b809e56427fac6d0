"""The content of single events: headers, table maps, queries, GTIDs, compressed payloads. No rows."""

__all__ = [
    "compression", "contents", "digest_kernel", "event_header_kernel", "events", "format", "gtid", "packed_kernel",
    "query", "statement_events", "table_map", "xa",
]
