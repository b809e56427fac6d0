"""Parquet files of a table: the rows as they were, in files of the size asked for, with the key range of each."""

import datetime
import decimal
import itertools
import pickle
import resource
import signal
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier.errors import SnapshotError
from applier.schema.definition import TableDefinition
from applier.snapshot import FILE_BYTES
from applier.snapshot.files import file_settings
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.file_settings import FileSettings
from applier.snapshot.reader import read_unit
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import TableTarget, TableWriter, write_empty
from keysearch.keybytes import encode_keys

UTC = datetime.UTC
ALL_TYPES = pa.table({
    "id": pa.array([1, 2, 3], pa.int32()),
    "small": pa.array([1, None, -1], pa.int8()),
    "big": pa.array([decimal.Decimal(2**64 - 1), None, decimal.Decimal(0)], pa.decimal128(20, 0)),
    "price": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-9.99")], pa.decimal128(12, 2)),
    "wide": pa.array([decimal.Decimal("1e-10"), None, decimal.Decimal(-1)], pa.decimal128(38, 10)),
    "single": pa.array([1.5, None, -0.0], pa.float32()),
    "double": pa.array([1e300, None, -0.0]),
    "day": pa.array([datetime.date(1000, 1, 1), None, datetime.date(9999, 12, 31)]),
    "at_time": pa.array([datetime.datetime(1000, 1, 1), None, datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)],
                       pa.timestamp("us")),
    "stamp": pa.array([datetime.datetime(2038, 1, 19, tzinfo=UTC), None, datetime.datetime(1970, 1, 1, tzinfo=UTC)],
                      pa.timestamp("us", tz="UTC")),
    "span": pa.array([-3020399000000, None, 3020399000000], pa.int64()).cast(pa.duration("us")),
    "text": pa.array(["é\0", None, ""]),
    "bytes": pa.array([b"\xff\0", None, b""]),
    "vector": pa.array([[1.0, 2.0], None, []], pa.list_(pa.float32())),
    "dotted.name": pa.array([[1.0], None, [0.0]], pa.list_(pa.float32())),
    "year": pa.array([0, None, 2155], pa.int16()),
})


def _place(folder, file_bytes=FILE_BYTES):
    (folder / "db/t").mkdir(parents=True)
    return TableTarget(str(folder), "db/t", FileSettings(file_bytes))


def _files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.parquet"))


def _write(place, table, *, unit=0, batch_rows=None, **options):
    with TableWriter(place, unit, table.schema, **options) as rows:
        for batch in table.to_batches(max_chunksize=batch_rows):
            rows.write(batch)
        return rows.close()


def test_every_type_is_read_back(tmp_path):
    files = _write(_place(tmp_path), ALL_TYPES, key=["id"], key_kind="int")
    assert [(file.rows, file.min_key, file.max_key) for file in files] == [(3, 1, 3)]
    assert files[0].bytes == (tmp_path / files[0].path).stat().st_size
    read = read_unit(str(tmp_path), files, ALL_TYPES.schema)
    assert read.schema.equals(ALL_TYPES.schema) and read.equals(ALL_TYPES)
    assert str(read["single"][2].as_py()) == str(read["double"][2].as_py()) == "-0.0"


def test_how_it_is_stored(tmp_path):
    file = _write(_place(tmp_path), ALL_TYPES, key=["id"], key_kind="int")[0]
    metadata = pq.read_metadata(tmp_path / file.path)
    group = metadata.row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert not any(column.has_dictionary_page for column in columns.values())
    assert [name for name, column in columns.items() if column.is_stats_set] == ["id"]
    assert columns["id"].statistics.min == 1 and columns["id"].statistics.max == 3
    for name, encoding in [("text", "DELTA_LENGTH_BYTE_ARRAY"), ("bytes", "DELTA_LENGTH_BYTE_ARRAY"),
                           ("at_time", "DELTA_BINARY_PACKED"), ("id", "DELTA_BINARY_PACKED"), ("small", "PLAIN")]:
        assert encoding in columns[name].encodings
    assert columns["price"].physical_type == "INT64" and columns["span"].physical_type == "INT64"
    assert [order.column_index for order in group.sorting_columns] == [0]


@pytest.mark.parametrize("dates", [pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")])
def test_the_order_that_readers_see_ends_with_the_first_dates(dates, tmp_path):
    """Invalid dates are null, so what follows them is in no order: (null, 9), (null, 1)."""
    rows = pa.table({"n": pa.array([1, 1], pa.int32()), "at": pa.nulls(2, dates), "id": pa.array([9, 1], pa.int32())})
    for key, ordered in ((["n", "id"], [0, 2]), (["at"], [1]), (["at", "id"], [1]), (["n", "at", "id"], [0, 1])):
        options = FileSettings().writer_options(rows.schema, key)
        assert [order.column_index for order in options["sorting_columns"]] == ordered


@pytest.fixture
def small_groups(monkeypatch):
    monkeypatch.setattr(file_settings, "ROW_GROUP_BYTES", 10_000)


def test_files_end_at_the_target_size(tmp_path, small_groups):
    """A task that grows past the target writes several files, whose ranges follow each other."""
    n = 20_000
    table = pa.table({"id": np.arange(n) - 500, "noise": np.random.default_rng(1).integers(0, 2**60, n)})
    files = _write(_place(tmp_path, 40_000), table, batch_rows=777, key=["id"], key_kind="int")
    assert len(files) >= 4 and sum(file.rows for file in files) == n
    assert all(40_000 <= file.bytes < 60_000 for file in files[:-1])
    assert (files[0].min_key, files[-1].max_key) == (-500, n - 501)
    assert all(after.min_key == before.max_key + 1 for before, after in itertools.pairwise(files))
    TableEntry("db", "t", TableDefinition("db", "t", ()), ("id",), "int", tuple(files)).check_ranges()
    assert _files(tmp_path) == [file.path for file in files]              # names sort as the keys do
    assert read_unit(str(tmp_path), files, table.schema).equals(table)
    groups = pq.read_metadata(tmp_path / files[0].path)
    assert groups.num_row_groups > 2 and groups.row_group(0).num_rows > 500


@pytest.mark.parametrize("more, files", [(20, [644]), (400, [624, 400])])
def test_a_few_rows_have_no_file_of_their_own(tmp_path, small_groups, more, files):
    """A full file that is written again with a few rows more is one file again."""
    n = 624  # of 16 bytes: two row groups
    table = pa.table({"id": np.arange(n + more), "noise": np.random.default_rng(1).integers(0, 2**60, n + more)})
    written = _write(_place(tmp_path, 5_000), table, key=["id"], key_kind="int")
    assert [file.rows for file in written] == files


def test_one_huge_row_does_not_wait_for_others(tmp_path, small_groups):
    table = pa.table({"id": [1, 2, 3], "blob": ["x" * 20_000, "y" * 20_000, "z"]})
    files = _write(_place(tmp_path, 1), table, key=["id"], key_kind="int")
    assert [(file.min_key, file.max_key) for file in files] == [(1, 1), (2, 2), (3, 3)]
    assert read_unit(str(tmp_path), files, table.schema).equals(table)


def test_byte_keys(tmp_path):
    table = pa.table({"n": [1, 2, 3], "code": ["a", "a\0", "b"], "day": pa.array([5, 5, 4], pa.date32())})
    files = _write(_place(tmp_path), table, key=["code", "day"], key_kind="bytes")
    keys = encode_keys([table["code"], table["day"]])
    assert (files[0].min_key, files[0].max_key) == (keys[0], keys[2])


def test_no_key_has_no_range(tmp_path):
    files = _write(_place(tmp_path), pa.table({"n": [3, 1, 3]}))
    assert files == [FileEntry(files[0].path, 3, files[0].bytes, digest=files[0].digest)]
    assert not pq.read_metadata(tmp_path / files[0].path).row_group(0).column(0).is_stats_set


def test_no_rows(tmp_path):
    place = _place(tmp_path)
    assert _write(place, ALL_TYPES.slice(0, 0), key=["id"], key_kind="int") == [] and _files(tmp_path) == []
    empty = write_empty(place, ALL_TYPES.schema, ["id"])
    assert (empty.rows, empty.min_key) == (0, None) and _files(tmp_path) == [empty.path]
    assert read_unit(str(tmp_path), [empty], ALL_TYPES.schema).equals(ALL_TYPES.slice(0, 0))
    assert read_unit(str(tmp_path), [], ALL_TYPES.schema).equals(ALL_TYPES.slice(0, 0))


@pytest.mark.parametrize("key, kind, ids", [(["id"], "int", [2, 1]), (["id"], "bytes", [2, 1])])
def test_rows_out_of_order_are_refused_and_leave_nothing(tmp_path, small_groups, key, kind, ids):
    table = pa.table({"id": ids, "pad": ["x" * 20_000] * 2})
    with pytest.raises(ValueError, match="not in the order"):
        _write(_place(tmp_path, 1), table, key=key, key_kind=kind)
    assert _files(tmp_path) == []


def test_wrong_schema_or_key(tmp_path):
    place = _place(tmp_path)
    with pytest.raises(ValueError, match="schema"), TableWriter(place, 0, pa.schema({"id": pa.int64()})) as rows:
        rows.write(pa.table({"id": ["1"]}))
    with pytest.raises(ValueError, match="kind int"):
        TableWriter(place, 0, ALL_TYPES.schema, key_kind="int")


def test_attempts_have_names_of_their_own(tmp_path):
    place = pickle.loads(pickle.dumps(_place(tmp_path)))
    table = pa.table({"id": [1]})
    first, second = (_write(place, table, unit=7)[0] for _ in range(2))
    assert first.path != second.path and first.path.startswith("db/t/part-000007-")


def test_a_folder_that_is_gone_does_not_come_back(tmp_path):
    """A task that outlives its run must not make the staging directory again."""
    place = TableTarget(str(tmp_path / "gone"), "db/t")
    with pytest.raises(FileNotFoundError):
        _write(place, pa.table({"id": [1]}))
    assert list(tmp_path.iterdir()) == []


def test_damaged_base(tmp_path):
    table = pa.table({"id": np.arange(5000), "v": np.random.default_rng(1).integers(0, 2**60, 5000)})
    file = _write(_place(tmp_path), table, key=["id"], key_kind="int")[0]
    base, path = str(tmp_path), tmp_path / file.path
    with pytest.raises(SnapshotError, match="rows, but its manifest says 4"):
        read_unit(base, [FileEntry(file.path, 4, file.bytes)], table.schema)
    with pytest.raises(SnapshotError, match="other columns"):
        read_unit(base, [file], pa.schema({"id": pa.int64()}))
    older = replace(file, digest=None)
    whole = path.read_bytes()
    for flipped in (len(whole) // 2, len(whole) - 6):
        path.write_bytes(whole[:flipped] + bytes([whole[flipped] ^ 1]) + whole[flipped + 1 :])
        with pytest.raises(SnapshotError, match="was changed: its digest is xxh64:"):
            read_unit(base, [file], table.schema)
        with pytest.raises(SnapshotError, match=r"cannot be read|a page does not match its checksum"):
            read_unit(base, [older], table.schema)
    path.write_bytes(whole[:100])
    for entry in (file, older):
        with pytest.raises(SnapshotError, match="has 100 bytes, but its manifest says"):
            read_unit(base, [entry], table.schema)
    path.unlink()
    with pytest.raises(SnapshotError, match="missing"):
        read_unit(base, [file], table.schema)


def test_a_full_disk_is_an_error_that_is_not_tried_again(tmp_path):
    """A limit on the size of files stands for it. Nothing stays, and it says where."""
    place, rows = _place(tmp_path), pa.table({"id": np.random.default_rng(7).permutation(100_000)})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        with pytest.raises(SnapshotError, match="File too large") as error:
            with TableWriter(place, 0, rows.schema) as table:
                table.write(rows)
                table.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert error.value.file == f"{tmp_path}/db/t" and "--output" in error.value.hint
    assert list((tmp_path / "db/t").iterdir()) == []
