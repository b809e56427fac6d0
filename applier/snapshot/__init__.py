"""Parquet snapshots: manifest, reading, writing, publishing."""

__all__ = [
    "AS_DECIMAL", "COMPACT_BYTES", "COMPRESSIONS", "FILE_BYTES", "UNSIGNED_BIGINTS", "as_of", "attempts", "files",
    "lake", "lakes", "manifest", "publish", "reader", "staging", "table_entry", "writer",
]

FILE_BYTES = 64 << 20
"""The size that files of rows have where nothing else is asked for."""
COMPRESSIONS = {
    "zstd": range(1, 23), "gzip": range(1, 10), "snappy": None, "lz4": None, "none": None}
"""The codecs of files, with the levels that they have (applier.snapshot.files.file_settings)."""
COMPACT_BYTES = 1 << 30
"""Of tables that are merged when they are read: what a version may write anew, where nothing else is asked for."""
AS_DECIMAL = "decimal"
UNSIGNED_BIGINTS = (AS_DECIMAL, "long", "uint64")
"""What files may have for BIGINT UNSIGNED (applier.snapshot.files.unsigned_bigints)."""
