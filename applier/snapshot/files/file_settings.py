"""How the Parquet files of tables are written: the user's choices, and defaults chosen by measurement.

Without an option, files have no dictionaries, which cost more to build than they save on data of a transaction system,
and zstd at its fastest regular level (`python -m benchmarks`). Columns are encoded as

    string, binary                    DELTA_LENGTH_BYTE_ARRAY   the bytes are contiguous, which compresses better
    integers of a key, dates, times   DELTA_BINARY_PACKED       they ascend, or are close together
    decimal(p <= 18)                  PLAIN, as INT32 or INT64
    all others                        PLAIN

Only the columns of the key have statistics, bloom filters and bounds of pages: a file is sorted by them, so only by
them can readers skip rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from applier.snapshot import AS_DECIMAL, FILE_BYTES

ROW_GROUP_BYTES = 64 << 20
"""The default size of a row group, in bytes of Arrow data."""
MERGED_GROUP_BYTES = 1 << 20
"""The default in a lake that merges on read: a round reads every row group that contains a changed row."""


@dataclass(frozen=True)
class FileSettings:
    """The settings of a snapshot's new files.

    A file that has reached `file_bytes` on disk is followed by another one, unless only few rows are left.
    `unsigned_bigint` is the type of such columns. `row_group_bytes` is the approximate size of a row group in bytes of
    Arrow data; None: ROW_GROUP_BYTES, in a lake that merges on read MERGED_GROUP_BYTES. `compression` is one of
    COMPRESSIONS. With `page_index`, a file has an index of its pages, with `bloom_filters` a bloom filter for each row
    group and column of the key.
    """

    file_bytes: int = FILE_BYTES
    unsigned_bigint: str = AS_DECIMAL
    row_group_bytes: int | None = None
    compression: str = "zstd"
    compression_level: int | None = None
    page_index: bool = False
    bloom_filters: bool = False

    def group_bytes(self, *, merges: bool) -> int:
        """Return the approximate size of a row group in bytes of Arrow data, in a lake that merges on read (`merges`)
        or elsewhere: at most a file's size, so that small files are as small as requested."""
        return min(self.row_group_bytes or (MERGED_GROUP_BYTES if merges else ROW_GROUP_BYTES), self.file_bytes)

    def writer_options(self, schema: pa.Schema, key: Sequence[str], group_rows: int = 0, *,
                       is_sorted: bool = True, partition: str | None = None) -> dict[str, Any]:
        """Return pyarrow's options for a file with these columns. Its row groups have about `group_rows` rows; 0: the
        file is empty. `is_sorted`: rows are in the order of the key's values, as Parquet compares them, not in a
        collation's. `partition`: the column whose values files are divided by, which has statistics, too."""
        encodings = {}
        for field in schema:
            leaf = f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
            encodings[leaf] = _encoding(field.type, field.name in key)
        options = {
            "compression": self.compression,
            "store_schema": False,  # Arrow's types besides Parquet's: some readers refuse them, others prefer them
            "compression_level": 1 if self.compression == "zstd" and self.compression_level is None
            else self.compression_level,
            "use_dictionary": False,
            "column_encoding": encodings,
            "write_statistics": [*key, *([] if partition is None or partition in key else [partition])] or False,
            "store_decimal_as_integer": True,
            "write_page_checksum": True,
            "write_page_index": self.page_index,
            "sorting_columns": [pq.SortingColumn(schema.get_field_index(name), nulls_first=True)
                                for name in (columns_in_order(schema, key) if is_sorted else ())] or None,
        }
        hashed = [name for name in key if _is_found_by_hash(schema.field(name).type)]
        if self.bloom_filters and group_rows and hashed:
            options["bloom_filter_options"] = {name: {"ndv": group_rows} for name in hashed}
        return options


DEFAULTS = FileSettings()


def columns_in_order(schema: pa.Schema, key: Sequence[str]) -> Sequence[str]:
    """Return the first columns of a key by which readers see rows in order: up to the first with dates. Invalid dates
    come first, but all of them are null to readers, so what follows is in no order among them."""
    dates = (number for number, name in enumerate(key, 1) if pa.types.is_date(schema.field(name).type)
             or pa.types.is_timestamp(schema.field(name).type))
    return key[:next(dates, None)]


def _is_found_by_hash(type_: pa.DataType) -> bool:
    """Return whether readers find every value by its hash: not -0.0 by 0.0, and DuckDB finds no bytes."""
    return not (pa.types.is_floating(type_) or pa.types.is_binary(type_))


def _encoding(type_: pa.DataType, in_key: bool) -> str:
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return "DELTA_LENGTH_BYTE_ARRAY"
    if pa.types.is_temporal(type_) or (in_key and pa.types.is_integer(type_)):
        return "DELTA_BINARY_PACKED"
    return "PLAIN"
