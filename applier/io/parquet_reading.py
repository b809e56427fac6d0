"""The only way to open a Parquet file for its rows: page checksums are verified if the file has them.

pyarrow does not verify them by default, and reads a changed byte of a page as other values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyarrow.dataset import ParquetFileFormat

DAMAGED_PAGE = "could not verify page integrity"
"""The text of Arrow's error for a page with a wrong checksum."""


def open_parquet(source: Any, *, pre_buffer: bool = False, is_checked: bool = False,
                 metadata: pq.FileMetaData | None = None) -> pq.ParquetFile:
    """Return the Parquet file in a path, a buffer or an open file, whose footer need not be read where its metadata are
    known. To read a damaged page raises OSError, unless the bytes of the file are checked already."""
    return pq.ParquetFile(source, metadata=metadata, pre_buffer=pre_buffer, page_checksum_verification=not is_checked)


def scanned_format() -> ParquetFileFormat:
    """Return the format of a dataset of Parquet files. To scan a damaged page raises OSError."""
    from pyarrow.dataset import ParquetFileFormat, ParquetFragmentScanOptions

    options = ParquetFragmentScanOptions(page_checksum_verification=True)
    return ParquetFileFormat(default_fragment_scan_options=options)
