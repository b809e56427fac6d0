"""Shards: a table's entries in a file of their own are those that the manifest itself would have, or an error."""

import subprocess
import sys
from dataclasses import asdict, replace

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier import cli
from applier.errors import SnapshotError
from applier.snapshot import publish
from applier.snapshot.files import shards
from applier.snapshot.files.checks import check_listed
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.shards import Shard, columns_of
from applier.snapshot.manifest import Snapshot, load
from applier.snapshot.writer import TableWriter
from tests.unit.snapshot.publishing_run import ROWS, publish_once
from tests.unit.snapshot.sharding import ENTRIES, LAST, POSITION, files_of, orders, saved


def without_digest(folder, **changes):
    """The manifest's document as older programs or other people's write it."""
    document = orjson.loads((folder / "_snapshot.json").read_bytes())
    del document["digest"]
    (folder / "_snapshot.json").write_bytes(orjson.dumps(document | changes))


def test_what_is_known_without_reading(tmp_path):
    """Return how many files, rows and bytes; the entries are asked for later, if at all."""
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
    """The same entries, or an error for the same entries; except for files of other folders, which a shard cannot
    name."""
    if not table.files:
        return
    folder = tmp_path_factory.mktemp("shard")
    (folder / "_snapshot.json").write_bytes(Snapshot(POSITION, (table,), last_column_id=LAST).to_json())
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


def test_the_first_format_version_knows_no_shards(tmp_path):
    """A manifest that says it, and has one, was put together by hand."""
    saved(tmp_path, orders(ENTRIES))
    assert orjson.loads((tmp_path / "_snapshot.json").read_bytes())["format_version"] == 3
    without_digest(tmp_path, format_version=1)
    with pytest.raises(SnapshotError, match="has shards, which format version 1 does not know"):
        load(str(tmp_path))


def publish_many(output, count):
    """A snapshot of a table with this many files."""
    with publish.begin(output) as staging:
        target, written = staging.target("shop", "orders"), []
        for unit in range(count):
            with TableWriter(target, unit, ROWS.schema, key=["id"], key_kind="int") as writer:
                writer.write(ROWS.set_column(0, "id", pa.array([unit * 10 + n for n in range(3)])))
                written += writer.close()
        snapshot = Snapshot(POSITION, (orders(written),), last_column_id=LAST)
        return staging.commit(snapshot, "", {})


def test_published_where_files_are_many(tmp_path, monkeypatch):
    """Beside the others, named by the manifest; a table with fewer files keeps them where people read them."""
    monkeypatch.setattr(shards, "MOST_INLINE", 3)
    few, many = (publish_many(str(tmp_path / name), count) for name, count in (("few", 3), ("many", 4)))
    assert not few.tables[0].sharded and not (tmp_path / "few/_files").exists()
    assert many.tables[0].sharded and load(str(tmp_path / "many")) == many
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
    for content, says in ((data[:-1], f"{len(data) - 1} bytes, but its manifest says {len(data)}"), (None, "missing")):
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
