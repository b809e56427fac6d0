"""Shards: a table's entries in a file of their own are those that the manifest itself would have, or an error."""

import subprocess
import sys
from dataclasses import asdict, replace
from unittest import mock

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier import cli
from applier.errors import SnapshotError
from applier.snapshot import publish, shards
from applier.snapshot.checks import check_listed
from applier.snapshot.file_entries import FileEntry, OtherFile
from applier.snapshot.manifest import BinlogPosition, Snapshot, load
from applier.snapshot.shards import Shard, ShardedFiles, columns_of, make_shard, own_digest
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import TableWriter
from tests.unit.snapshot.publishing_run import ROWS, definition, publish_once

POSITION = BinlogPosition("binlog.000001", 4, "", None, "mysql")
ENTRIES = tuple(FileEntry(f"shop/orders/part-{number}.parquet", 10, 900 + number, number * 10, number * 10 + 9,
                          f"xxh64:{number:016x}") for number in range(5))


def saved(place, table, **parts):
    """A manifest with one table, whose files are in a shard; parts of what it says of the shard may be others."""
    made, content = make_shard(table.files, "shop/orders")
    path = place / made.shard.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    said = ShardedFiles(replace(made.shard, **parts), lambda: made.columns)
    (place / "_snapshot.json").write_bytes(Snapshot(POSITION, (replace(table, files=said),)).to_json())
    return path


def orders(files, key="int"):
    return TableEntry("shop", "orders", definition("orders"), ("id",) if key else (), key, tuple(files))


def files_of(folder):
    """What is read, whole."""
    return tuple(load(str(folder)).tables[0].files)


def without_digest(folder, **changes):
    """The manifest's document as older programs or other people's write it."""
    document = orjson.loads((folder / "_snapshot.json").read_bytes())
    del document["digest"]
    (folder / "_snapshot.json").write_bytes(orjson.dumps(document | changes))


def test_what_is_known_without_reading(tmp_path):
    """How many files, rows and bytes; the entries are asked for later, if at all."""
    saved(tmp_path, orders(ENTRIES)).unlink()
    [table] = load(str(tmp_path)).tables
    assert (len(table.files), table.rows, table.bytes) == (5, 50, sum(file.bytes for file in ENTRIES))
    with pytest.raises(SnapshotError, match="missing") as error:
        table.files[0]
    assert error.value.file == str(tmp_path / "_files/shop/orders.parquet")
    assert error.value.table == "shop.orders" and error.value.hint


KEYS = {"int": st.integers(-2**63, 2**63 - 1), "bytes": st.binary(max_size=9)}


@st.composite
def tables(draw):
    """Entries as a manifest may have them, or nearly."""
    kind = draw(st.sampled_from(["int", "bytes", None]))
    keys = draw(st.lists(KEYS[kind], max_size=12)) if kind else []
    if draw(st.integers(0, 3)):
        keys = sorted(set(keys))
    pairs = list(zip(keys[::2], keys[1::2], strict=False)) if kind else [(None, None)] * draw(st.integers(1, 5))
    sizes = st.integers(0, 2**59) if draw(st.integers(0, 4)) else st.integers(-1, 3)
    names = st.text("ab./\\\n é", min_size=draw(st.integers(0, 1)), max_size=4)
    digests = st.none() | st.sampled_from(["xxh64:00", "", "é", "x" * 201, "a\tb"] if not draw(st.integers(0, 4)) else
                                          ["xxh64:0123456789abcdef", "other:1"])
    files = [FileEntry(f"shop/orders/{draw(names) if not draw(st.integers(0, 9)) else number}", draw(st.integers(0, 9)),
                       draw(sizes), low, high, draw(digests)) for number, (low, high) in enumerate(pairs)]
    if files and not draw(st.integers(0, 4)):
        files.append(replace(draw(st.sampled_from(files)), min_key=draw(st.none() | st.just(files[-1].max_key))))
    return orders(files, kind)


@given(table=tables())
def test_a_shard_says_what_the_manifest_itself_would(tmp_path_factory, table):
    """The same entries, or an error for the same entries; but for files of other folders, which a shard cannot name."""
    if not table.files:
        return
    folder = tmp_path_factory.mktemp("shard")
    (folder / "_snapshot.json").write_bytes(Snapshot(POSITION, (table,)).to_json())
    try:
        expected = files_of(folder)
    except SnapshotError:
        expected = None
    try:
        saved(folder, table)
    except ValueError as error:
        assert "not in the folder" in str(error)
        return
    if expected is None:
        with pytest.raises(SnapshotError, match="damaged"):
            files_of(folder)
    else:
        read = load(str(folder))
        assert read.tables[0].files == expected == table.files and read.tables[0].rows == table.rows
        assert load(str(folder)).to_json() == (folder / "_snapshot.json").read_bytes()


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
    "cut": (lambda data: data[:-1], "bytes, its manifest says"),
    "longer": (lambda data: data + b"x", "bytes, its manifest says"),
    "a bit of a path": (lambda data: data.replace(b"part-3", b"part-7"), "its digest is another one"),
    "a bit of the footer": (lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], "its digest is another one"),
    "nothing in it": (lambda data: b"", "bytes, its manifest says"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage(tmp_path, damage):
    harm, says = DAMAGES[damage]
    path = saved(tmp_path, orders(ENTRIES))
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(SnapshotError, match=says) as error:
        files_of(tmp_path)
    assert error.value.file == str(path) and "take its files from a backup" in error.value.hint


@pytest.mark.parametrize("parts, says", [
    ({"files": 4}, "has 5 files, its manifest says 4"),
    ({"rows": 51}, "has files of 50 rows and 4510 bytes, its manifest says 51 and 4510"),
    ({"file_bytes": 1}, "its manifest says 50 and 1"),
    ({"digest": "blake2b-128:" + "0" * 32}, "its digest is another one"),
    ({"digest": "xxh64:" + "0" * 16}, "its digest is another one"),
    ({"folder": "shop/other"}, r"names a file that is not in the folder shop/other: 'shop/orders/part-0\.parquet'"),
    ({"folder": "shop"}, "not in the folder shop:"),
    ({"bytes": 2**62}, f"bytes, its manifest says {2**62}"),
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
    (tmp_path / "_snapshot.json").write_bytes(Snapshot(POSITION, (replace(orders(()), files=said),)).to_json())
    with mock.patch.object(shards, "FileColumns", side_effect=AssertionError("all of it was decoded")), \
            pytest.raises(SnapshotError, match=r"take more memory than its bytes|has 20000 files, its manifest says"):
        files_of(tmp_path)


@settings(max_examples=300)
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


def test_the_format_version_says_whether_there_are_shards(tmp_path):
    """A program that does not know them refuses what it would misread; without them it reads all."""
    assert orjson.loads(Snapshot(POSITION, (orders(ENTRIES),)).to_json())["format_version"] == 1
    saved(tmp_path, orders(ENTRIES))
    assert orjson.loads((tmp_path / "_snapshot.json").read_bytes())["format_version"] == 2
    without_digest(tmp_path, format_version=1)
    with pytest.raises(SnapshotError, match="has shards, which format version 1 does not know"):
        load(str(tmp_path))


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


def publish_many(output, count):
    """A snapshot of a table with so many files."""
    with publish.begin(output) as staging:
        place, written = staging.place("shop", "orders"), []
        for unit in range(count):
            with TableWriter(place, unit, ROWS.schema, key=["id"], key_kind="int") as writer:
                writer.write(ROWS.set_column(0, "id", pa.array([unit * 10 + n for n in range(3)])))
                written += writer.close()
        snapshot = Snapshot(POSITION, (orders(written),))
        return staging.commit(snapshot, "", {})


def test_published_where_files_are_many(tmp_path, monkeypatch):
    """Beside the others, named by the manifest; a table with fewer files keeps them where people read them."""
    monkeypatch.setattr(shards, "MOST_INLINE", 3)
    few, many = (publish_many(str(tmp_path / name), count) for name, count in (("few", 3), ("many", 4)))
    assert few.format_version == 1 and not (tmp_path / "few/_files").exists()
    assert many.format_version == 2 and load(str(tmp_path / "many")) == many
    document = orjson.loads((tmp_path / "many/_snapshot.json").read_bytes())["tables"][0]["files"]
    assert document == asdict(Shard(**document)) and (document["files"], document["rows"]) == (4, 12)
    paths = pq.read_table(tmp_path / "many/_files/shop/orders.parquet")["path"].to_pylist()
    assert paths == [file.path for file in many.tables[0].files] == sorted(
        str(path.relative_to(tmp_path / "many")) for path in (tmp_path / "many/shop").rglob("*.parquet"))


def test_a_shard_that_is_gone_is_no_matter_of_files_left_behind(tmp_path, monkeypatch):
    """Of another run's files nothing stays, `_files` included."""
    monkeypatch.setattr(shards, "MOST_INLINE", 1)
    base = publish_once(str(tmp_path / "base"))
    assert publish_once(str(tmp_path / "out"), base).table("shop", "copies").rows == 6
    assert sorted(path.name for path in (tmp_path / "out/_files/shop").iterdir()) == ["copies.parquet",
                                                                                      "orders.parquet"]
    (tmp_path / "base/_files/shop/orders.parquet").unlink()
    with pytest.raises(SnapshotError, match="missing"):
        publish_once(str(tmp_path / "again"), load(str(tmp_path / "base")))
    assert not (tmp_path / "again").exists()


def test_a_base_is_checked_by_listing_its_folders(tmp_path, monkeypatch):
    """Nothing is opened; what is missing or of another size is named."""
    snapshot = publish_many(str(tmp_path / "base"), 5)
    lists = [columns_of(files) for files in snapshot.tables[0].lists]
    check_listed(snapshot.uri, lists)
    path = tmp_path / "base" / snapshot.tables[0].files[3].path
    data = path.read_bytes()
    path.chmod(0)
    check_listed(snapshot.uri, lists)
    path.chmod(0o600)
    for content, says in ((data[:-1], f"has {len(data) - 1} bytes, its manifest says {len(data)}"), (None, "missing")):
        path.write_bytes(content) if content is not None else path.unlink()
        with pytest.raises(SnapshotError, match=says) as error:
            check_listed(snapshot.uri, lists)
        assert error.value.file == str(path)
    path.mkdir()
    with pytest.raises(SnapshotError, match="missing"):
        check_listed(snapshot.uri, lists)
    with pytest.raises(SnapshotError, match="missing"):
        check_listed(str(tmp_path / "nowhere"), lists)


def test_status_prints_from_the_manifest_and_looks_at_files_afterwards(tmp_path, monkeypatch, capsys):
    """What is known is printed also where a shard is gone; then it says so (exit 2)."""
    monkeypatch.setattr(shards, "MOST_INLINE", 1)
    publish_many(str(tmp_path / "base"), 4)
    assert cli.main(["status", str(tmp_path / "base")]) == 0
    whole = capsys.readouterr().out
    (tmp_path / "base/_files/shop/orders.parquet").unlink()
    assert cli.main(["status", str(tmp_path / "base")]) == 2
    told = capsys.readouterr()
    assert told.out == whole and "orders.parquet" in told.err.replace("\n", "")


def test_reading_a_shard_needs_no_kernels(tmp_path):
    """`applier status` must start fast."""
    saved(tmp_path, orders(ENTRIES))
    code = (f"import sys; from applier.snapshot.manifest import load; assert len(list(load({str(tmp_path)!r})"
            ".tables[0].files)) == 5; assert not {'numba', 'pyspark'} & set(sys.modules), 'heavy import'")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
