"""Parquet snapshots: manifest, reading, writing, publishing."""

__all__ = [
    "AS_DECIMAL", "COMPACT_BYTES", "COMPRESSIONS", "FILE_BYTES", "UNSIGNED_BIGINTS", "as_of", "attempts", "files",
    "lake", "lakes", "manifest", "publish", "reader", "staging", "table_entry", "writer",
]

FILE_BYTES = 64 << 20
"""The default size of files of rows."""
COMPRESSIONS = {
    "zstd": range(1, 23), "gzip": range(1, 10), "snappy": None, "lz4": None, "none": None}
"""The codecs of files, with the levels that they have (applier.snapshot.files.file_settings)."""
COMPACT_BYTES = 1 << 30
"""The default number of bytes that a version may rewrite of tables that are merged on read."""
AS_DECIMAL = "decimal"
UNSIGNED_BIGINTS = (AS_DECIMAL, "long", "uint64")
"""The types that files may have for BIGINT UNSIGNED (applier.snapshot.files.unsigned_bigints)."""
