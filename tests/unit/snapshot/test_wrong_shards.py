"""Shards that are damaged, hostile, or not what the manifest says: an error that names the table and the file, or all
of their entries."""

from dataclasses import replace
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.errors import SnapshotError
from applier.snapshot.files import shards
from applier.snapshot.files.file_entries import OtherFile
from applier.snapshot.files.shards import ShardedFiles, make_shard, own_digest
from applier.snapshot.manifest import Snapshot, load
from applier.snapshot.table_entry import TableEntry
from tests.support.examples import examples
from tests.unit.snapshot.publishing_run import definition
from tests.unit.snapshot.sharding import ENTRIES, LAST, POSITION, files_of, orders, saved


@pytest.mark.parametrize("files, says", [
    ([replace(ENTRIES[0], rows=-1), ENTRIES[1]], r"\[0\]\.rows is -1, which is not from 0"),
    ([ENTRIES[0], replace(ENTRIES[1], bytes=-1)], r"\[1\]\.bytes is -1"),
    ([replace(ENTRIES[0], path="shop/orders/..")], r"\[0\]\.path is a path outside of it: 'shop/orders/\.\.'"),
    ([replace(ENTRIES[0], path="shop/orders/")], r"is a path outside of it"),
    ([replace(ENTRIES[0], path="shop/orders/a\nb")], r"is a path outside of it"),
    ([replace(ENTRIES[0], digest="")], r"\[0\]\.digest is no digest"),
    ([ENTRIES[0], replace(ENTRIES[1], path=ENTRIES[0].path)], "has two files with the name 'part-0.parquet'"),
    ([ENTRIES[1], ENTRIES[0]], "the key range of shop/orders/part-0.parquet is missing, or overlaps"),
    ([replace(ENTRIES[0], max_key=None)], "the key range of shop/orders/part-0.parquet is missing"),
    ([replace(ENTRIES[0], min_key=b"a", max_key=b"b")], "has key ranges of another kind than its key"),
])
def test_entries_that_are_wrong(tmp_path, files, says):
    """By the words that are said of them in the manifest."""
    saved(tmp_path, orders(files))
    with pytest.raises(SnapshotError, match=says) as error:
        files_of(tmp_path)
    assert error.value.table == "shop.orders" and "orders.parquet" in str(error.value.file)


DAMAGES = {
    "cut": (lambda data: data[:-1], "bytes, but its manifest says"),
    "longer": (lambda data: data + b"x", "bytes, but its manifest says"),
    "a bit of a path": (lambda data: data.replace(b"part-3", b"part-7"), "its digest does not match"),
    "a bit of the footer": (lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], "its digest does not match"),
    "nothing in it": (lambda data: b"", "bytes, but its manifest says"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage(tmp_path, damage):
    harm, says = DAMAGES[damage]
    path = saved(tmp_path, orders(ENTRIES))
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(SnapshotError, match=says) as error:
        files_of(tmp_path)
    assert error.value.file == str(path) and "restore its files from a backup" in error.value.hint


@pytest.mark.parametrize("parts, says", [
    ({"files": 4}, "has 5 files, its manifest says 4"),
    ({"rows": 51}, "has files of 50 rows and 4510 bytes, its manifest says 51 and 4510"),
    ({"file_bytes": 1}, "its manifest says 50 and 1"),
    ({"digest": "blake2b-128:" + "0" * 32}, "its digest does not match"),
    ({"digest": "xxh64:" + "0" * 16}, "its digest does not match"),
    ({"folder": "shop/other"}, r"names a file that is not in the folder shop/other: 'shop/orders/part-0\.parquet'"),
    ({"folder": "shop"}, "not in the folder shop:"),
    ({"bytes": 2**62}, f"bytes, but its manifest says {2**62}"),
])
def test_a_manifest_that_says_what_is_not_so(tmp_path, parts, says):
    saved(tmp_path, orders(ENTRIES), **parts)
    with pytest.raises(SnapshotError, match=says):
        files_of(tmp_path)


@pytest.mark.parametrize("parts, says", [
    ({"path": "../x.parquet"}, r"tables\[0\]\.files\.path is a path outside of it"),
    ({"folder": "/etc"}, r"tables\[0\]\.files\.folder is a path outside of it"),
    ({"bytes": -1}, r"tables\[0\]\.files\.bytes is -1"),
    ({"digest": ""}, r"tables\[0\]\.files\.digest is no digest"),
])
def test_fields_of_the_manifest_are_checked_at_once(tmp_path, parts, says):
    """Nothing is read for it."""
    saved(tmp_path, orders(ENTRIES), **parts)
    with pytest.raises(SnapshotError, match=says):
        load(str(tmp_path))


HOSTILE = {
    "compressed": {"compression": "zstd", "use_dictionary": False},
    "a dictionary": {"compression": "none", "use_dictionary": ["path"]},
    "prefixes": {"compression": "none", "use_dictionary": False, "column_encoding": {"path": "DELTA_BYTE_ARRAY"}},
}


@pytest.mark.parametrize("n_said", [5, 20_000])
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_shard_takes_no_more_memory_than_its_bytes(tmp_path, kind, n_said):
    """Long paths, and many of them, in a file in which they take next to nothing: refused while little is decoded."""
    path = saved(tmp_path, orders(ENTRIES))
    zeros, schema, n = pa.array([0] * 20_000, pa.int64()), pq.read_schema(path), 20_000
    long = pa.array(["shop/orders/" + "x" * 10_000] * n)
    table = pa.table([long, *[zeros] * 4, pa.nulls(n, pa.string())], schema=schema)
    pq.write_table(table, path, store_schema=False, **HOSTILE[kind])
    assert path.stat().st_size < table.nbytes / 50
    del long, table
    made, _ = make_shard(ENTRIES, "shop/orders")
    stated = {"bytes": path.stat().st_size, "digest": own_digest(path.read_bytes()), "files": n_said}
    said = ShardedFiles(replace(made.shard, **stated), lambda: made.columns)
    snapshot = Snapshot(POSITION, (replace(orders(()), files=said),), last_column_id=LAST)
    (tmp_path / "_snapshot.json").write_bytes(snapshot.to_json())
    with mock.patch.object(shards, "FileColumns", side_effect=AssertionError("all of it was decoded")), \
            pytest.raises(SnapshotError, match=r"take more memory than its bytes|has 20000 files, its manifest says"):
        files_of(tmp_path)


@settings(max_examples=examples(300))
@given(changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=3),
       cut=st.integers(0, 3))
def test_a_shard_with_other_bytes_is_whole_or_an_error(tmp_path_factory, changes, cut):
    """Whose size and digest are what the manifest says; also where Arrow itself cannot make sense of the footer."""
    folder = tmp_path_factory.mktemp("shard")
    path = saved(folder, orders(ENTRIES))
    data = bytearray(path.read_bytes())
    for place, byte in changes:
        data[int(place * len(data))] = byte
    del data[len(data) // 2:len(data) // 2 + cut]
    saved(folder, orders(ENTRIES), bytes=len(data), digest=own_digest(bytes(data)))
    path.write_bytes(data)
    try:
        read = files_of(folder)
    except SnapshotError as error:
        assert error.table == "shop.orders" and error.file == str(path)
    else:
        assert [file.rows for file in read] and sum(file.rows for file in read) == 50


@pytest.mark.parametrize("change, says", [
    (lambda table: table.drop(["digest"]), "has other columns than a shard"),
    (lambda table: table.append_column("more", pa.nulls(5)), "has other columns than a shard"),
    (lambda table: table.set_column(1, "rows", pa.array([1, 2, 3, 4, None])), "has other columns than a shard"),
    (lambda table: table.set_column(3, "min_key", pa.array(["a"] * 5)), "has other columns than a shard"),
    (None, "cannot be read"),
])
def test_a_file_that_is_no_shard(tmp_path, change, says):
    """Whose bytes and digest are what the manifest says."""
    path = saved(tmp_path, orders(ENTRIES))
    if change is None:
        path.write_bytes(b"PAR1" * 100)
    else:
        pq.write_table(change(pq.read_table(path)), path, compression="none", use_dictionary=False)
    saved_bytes = path.read_bytes()
    saved(tmp_path, orders(ENTRIES), bytes=len(saved_bytes), digest=own_digest(saved_bytes))
    path.write_bytes(saved_bytes)
    with pytest.raises(SnapshotError, match=says):
        files_of(tmp_path)


def test_names_that_meet_are_refused_without_reading(tmp_path):
    """All files of a shard are in one folder, and nothing else is, so no file has two tables."""
    made, _ = make_shard(ENTRIES, "shop/orders")
    other = TableEntry("shop", "other", definition("other"), ("id",), "int", made)
    inline = TableEntry("shop", "inline", definition("inline"), ("id",), "int", (ENTRIES[0],))
    for table, others, says in ((other, (), r"names a file twice: '_files/shop/orders\.parquet'"),
                                (inline, (), r"names a file in a shard's folder: 'shop/orders/part-0\.parquet'"),
                                (None, (OtherFile("shop/orders/x", 1, "a:1"),), "names a file in a shard's folder")):
        tables = (replace(orders(()), files=made), *([table] if table else []))
        (tmp_path / "_snapshot.json").write_bytes(Snapshot(POSITION, tables, others=others).to_json())
        with pytest.raises(SnapshotError, match=says):
            load(str(tmp_path))
    moved = ShardedFiles(replace(made.shard, path="_files/x.parquet"), made.columns.entries)
    (tmp_path / "_snapshot.json").write_bytes(
        Snapshot(POSITION, (replace(orders(()), files=made), replace(other, files=moved))).to_json())
    with pytest.raises(SnapshotError, match="names a folder twice: 'shop/orders'"):
        load(str(tmp_path))
