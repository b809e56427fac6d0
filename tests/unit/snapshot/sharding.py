"""A small table whose files are in a shard."""

from dataclasses import replace

from applier.schema.column_ids import numbered
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.shards import ShardedFiles, make_shard
from applier.snapshot.manifest import BinlogPosition, Snapshot, load
from applier.snapshot.table_entry import TableEntry
from tests.unit.snapshot.publishing_run import definition

POSITION = BinlogPosition("binlog.000001", 4, "", None, "mysql")
LAST = len(definition("orders").columns)
"""The last number that its columns have."""
ENTRIES = tuple(FileEntry(f"shop/orders/part-{number}.parquet", 10, 900 + number, number * 10, number * 10 + 9,
                          f"xxh64:{number:016x}") for number in range(5))


def saved(place, table, **parts):
    """A manifest with one table, whose files are in a shard; parts of what it says of the shard may be others."""
    made, content = make_shard(table.files, "shop/orders")
    path = place / made.shard.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    said = ShardedFiles(replace(made.shard, **parts), lambda: made.columns)
    snapshot = Snapshot(POSITION, (replace(table, files=said),), last_column_id=LAST)
    (place / "_snapshot.json").write_bytes(snapshot.to_json())
    return path


def orders(files, key="int"):
    numbers, _ = numbered(definition("orders"), 0)
    return TableEntry("shop", "orders", numbers, ("id",) if key else (), key, tuple(files))


def files_of(folder):
    """What is read, whole."""
    return tuple(load(str(folder)).tables[0].files)
