"""Readers of Delta's change data feeds: deltalake, and Delta's own kernel. A change is its kind and a row as `texts`
has it."""

from collections import Counter

import pyarrow as pa
from delta_kernel_rust_sharing_wrapper import PythonInterface, Table, TableChangesScanBuilder
from deltalake import DeltaTable

from tests.support.iceberg_readers import texts

_OF_FEEDS = ["_change_type", "_commit_version", "_commit_timestamp"]
CAME, WENT = ("insert", "update_postimage"), ("delete", "update_preimage")


def with_deltalake(place: str, start: int, end: int) -> pa.Table:
    return pa.table(DeltaTable(place).load_cdf(starting_version=start, ending_version=end))


def with_kernel(place: str, start: int, end: int) -> pa.Table:
    interface, table = PythonInterface(f"file://{place}/"), Table(f"file://{place}/")
    batches = list(TableChangesScanBuilder(table, interface, start, end).build().execute(interface))
    return pa.Table.from_batches(batches) if batches else pa.table({"_change_type": pa.array([], pa.string())})


READERS = (with_deltalake, with_kernel)


def changes(feed: pa.Table) -> Counter[tuple[str, str]]:
    """Count each change."""
    columns = [name for name in feed.column_names if name not in _OF_FEEDS]
    return Counter(zip(feed.column("_change_type").to_pylist(), texts(feed.select(columns)), strict=True))


def rows_of(found: Counter[tuple[str, str]], kinds: tuple[str, ...]) -> Counter[str]:
    """The rows of changes of these kinds."""
    rows = Counter[str]()
    for (kind, row), count in found.items():
        if kind in kinds:
            rows[row] += count
    return rows
