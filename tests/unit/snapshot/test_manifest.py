"""The manifest: what is written is read back; what is not whole is refused."""

import subprocess
import sys
from dataclasses import replace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.cli.output import status
from applier.columns.table_key import table_key
from applier.errors import SnapshotError, UsageError
from applier.schema.ddl.ddl import parse_statement
from applier.schema.definition import table_schema
from applier.snapshot.files.file_entries import FileEntry, OtherFile
from applier.snapshot.files.location import is_inside, is_plain_inside, resolve, table_folder
from applier.snapshot.manifest import BinlogPosition, DatabaseEntry, PreparedTransaction, Snapshot, Source, load
from applier.snapshot.table_entry import TableEntry
from tests.support.examples import examples
from tests.support.mutated_json import mutants

POSITION = BinlogPosition("binlog.000003", 1234, "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5", 1_700_000_000, "mysql")
def _definition(create):
    [statement] = parse_statement(create, default_database="shop", flavour="mysql", server_charset="utf8mb4")
    return statement.definition


ORDERS = _definition("""
    CREATE TABLE orders (id BIGINT PRIMARY KEY, code CHAR(9) DEFAULT 'x', price DECIMAL(9,2), kind ENUM('a','b'),
                         t TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP(3), twice INT AS (id * 2) VIRTUAL,
                         UNIQUE KEY c (code(3)), FOREIGN KEY (kind) REFERENCES other (kind) ON DELETE CASCADE)
    PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)""")
BY_ID = TableEntry("shop", "orders", ORDERS, ("id",), "int", (
    FileEntry("shop/orders/a.parquet", 10, 900, -5, 5, "xxh64:0123456789abcdef"),
    FileEntry("shop/orders/b.parquet", 1, 300, 2**63 - 1, 2**63 - 1)))
CODES = _definition("CREATE TABLE codes (code VARCHAR(9), n INT, PRIMARY KEY (code, n)) COLLATE utf8mb4_bin")
BY_CODE = TableEntry("shop", "codes", CODES, ("code", "n"), "bytes", (
    FileEntry("shop/codes/a.parquet", 3, 500, b"a\0\0\x80", b"a\0\0\xff"),
    FileEntry("shop/codes/b.parquet", 1, 1, b"b", b"b")))
KEYLESS = TableEntry("shop", "log", _definition("CREATE TABLE log (a INT)"),
                     files=(FileEntry("shop/log/a.parquet", 0, 200),))
SOURCE = Source(("binlog.000001",), {"zero_dates": "null"}, "s3://base")
SNAPSHOT = Snapshot(POSITION, (BY_ID, BY_CODE, KEYLESS), SOURCE, "applier 1",
                    databases=(DatabaseEntry("shop", "utf8mb4", "utf8mb4_0900_ai_ci"),), sequences=(("shop", "s"),),
                    prepared=(PreparedTransaction("x", "binlog.000001", 4, 90, None),),
                    others=(OtherFile("_schema.sql", 90, "xxh64:0123456789abcdef"),))
WITHOUT_DIGEST = {name: value for name, value in orjson.loads(SNAPSHOT.to_json()).items() if name != "digest"}


def _write(folder, text):
    (folder / "_snapshot.json").write_bytes(text)
    return str(folder)


def test_read_back(tmp_path):
    """AP-SNAP: the snapshot names the one position at which all its tables stand."""
    read = load(_write(tmp_path, SNAPSHOT.to_json()))
    assert read == SNAPSHOT and read.uri == str(tmp_path)
    assert str(read.position) == "binlog.000003:1234"
    assert read.table("shop", "orders") == BY_ID and read.table("shop", "ORDERS") is None
    assert (BY_ID.rows, BY_ID.bytes, BY_ID.full_name) == (11, 1200, "shop.orders")
    assert load(tmp_path.as_uri()) == SNAPSHOT


def test_no_manifest(tmp_path):
    for place, says in ((tmp_path, "it has no _snapshot.json"), (tmp_path / "absent", "no such file or directory")):
        with pytest.raises(SnapshotError, match=f"not a complete snapshot: {says}"):
            load(str(place))


def test_every_cut_and_missing_field_is_an_error(tmp_path):
    text = SNAPSHOT.to_json()
    for length in range(0, len(text) - 2, 37):
        with pytest.raises(SnapshotError, match="damaged"):
            load(_write(tmp_path, text[:length]))
    for name in ("position", "tables", "source", "created_by", "format_version"):
        document = orjson.loads(text)
        del document[name]
        with pytest.raises(SnapshotError, match="changed after it was written"):
            load(_write(tmp_path, orjson.dumps(document)))
        del document["digest"]
        with pytest.raises(SnapshotError, match=name):
            load(_write(tmp_path, orjson.dumps(document)))


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(text=mutants(orjson.loads(SNAPSHOT.to_json())))
def test_what_was_changed_is_an_error(tmp_path_factory, text):
    """As it was written, or an error: also where every field of what was changed has its type."""
    try:
        assert load(_write(tmp_path_factory.getbasetemp(), text)) == SNAPSHOT
    except SnapshotError as error:
        assert "_snapshot.json" in str(error) or "format version" in str(error)


@pytest.mark.thorough
@pytest.mark.slow
@settings(max_examples=examples(600))
@given(text=mutants(WITHOUT_DIGEST))
def test_what_was_changed_without_a_digest_is_whole_or_an_error(tmp_path_factory, text):
    """As older programs wrote it. What is loaded can be worked with."""
    folder = tmp_path_factory.getbasetemp()
    try:
        snapshot = load(_write(folder, text))
    except SnapshotError as error:
        assert "_snapshot.json" in str(error) or "format version" in str(error) or "key range" in str(error)
        return
    text = snapshot.to_json()
    assert load(_write(folder, text)) == snapshot
    for table in snapshot.tables:
        definition = table.definition
        assert definition.to_sql() and definition.shown.to_sql() and table_schema(definition)
        key = table_key(definition)
        assert key is None or set(key.names) <= {column.name for column in definition.columns}
    status.SNAPSHOT.print(False, snapshot, True, None)


def test_a_manifest_that_is_nested_without_end(tmp_path):
    for text in (b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000):
        with pytest.raises(SnapshotError, match="is not JSON"):
            load(_write(tmp_path, text))


@pytest.mark.parametrize("path", ["/etc/passwd", "../other/a.parquet", "a/../../b", "", "a//b", "./a", "a/", "a\0b",
                                  "a\nb", "a\\b"])
def test_files_outside_are_refused(tmp_path, path):
    assert not is_plain_inside(path)
    table = replace(KEYLESS, files=(FileEntry(path, 0, 0),))
    with pytest.raises(SnapshotError, match="outside"):
        load(_write(tmp_path, replace(SNAPSHOT, tables=(table,)).to_json()))


def test_other_format_version(tmp_path):
    for version in (0, 6, 99):
        with pytest.raises(SnapshotError, match=f"format version {version}, this version reads 1 to 5"):
            load(_write(tmp_path, orjson.dumps(WITHOUT_DIGEST | {"format_version": version})))


@pytest.mark.parametrize("files", [
    (FileEntry("a", 1, 1, 5, 9), FileEntry("b", 1, 1, 9, 12)),
    (FileEntry("a", 1, 1, 5, 4),),
    (FileEntry("a", 1, 1),),
])
def test_ranges_that_overlap_or_lack(tmp_path, files):
    table = replace(BY_ID, files=files)
    with pytest.raises(SnapshotError, match="key range of"):
        table.check_ranges()
    with pytest.raises(SnapshotError, match=r"shop\.orders"):
        load(_write(tmp_path, replace(SNAPSHOT, tables=(table,)).to_json()))


def test_two_files_that_would_meet_in_one_folder_are_refused(tmp_path):
    """A snapshot that carries them over has all of a table's in one folder; those of its history have another."""
    here, there = FileEntry("a/x", 1, 1, 5, 8), FileEntry("b/x", 1, 1, 9, 12)
    beside = replace(SNAPSHOT, tables=(replace(BY_ID, files=(here,), history=(there,)),))
    assert load(_write(tmp_path, beside.to_json())) == beside
    with pytest.raises(SnapshotError, match="two files with the name 'x'"):
        load(_write(tmp_path, replace(SNAPSHOT, tables=(replace(BY_ID, files=(here, there)),)).to_json()))


@settings(max_examples=examples(200))
@given(st.tuples(st.text(min_size=1, max_size=64), st.text(min_size=1, max_size=64)))
def test_table_folders_are_safe(names):
    folder = table_folder(*names)
    assert is_inside(folder) and folder.count("/") == 1
    assert folder[0] != "_"
    for part in folder.split("/"):
        assert part[0] != "." and len(part.encode("utf-8", "surrogatepass")) <= 200
        assert all(char.isprintable() and char not in "/\\:*?[]{}#=" for char in part)


def test_table_folders_keep_names_apart():
    names = ["a b", "a_b", "a%20b", "_a", "%5Fa", "a/b", "..", ".", "é", "x" * 64, "=" * 64, "=" * 63 + "!",
             "=" * 63 + "#"]
    folders = [table_folder("d", name) for name in names]
    assert len(set(folders)) == len(names)
    assert table_folder("_shop", "_orders_gho") == "%5Fshop/_orders_gho"
    assert table_folder("shop", "orders_2024") == "shop/orders_2024"
    assert table_folder("a.b", "é$") == "a.b/é$"
    assert table_folder("odd db-1", 'x "quoted" `y`') == 'odd db-1/x "quoted" `y`'


def test_resolve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve("snapshots/one/")[1] == str(tmp_path / "snapshots/one")
    with pytest.raises(UsageError, match="cannot open nowhere://x"):
        resolve("nowhere://x")


def test_reading_a_manifest_needs_no_kernels(tmp_path):
    """`applier status` must start fast."""
    _write(tmp_path, SNAPSHOT.to_json())
    code = (f"import sys; from applier.snapshot.manifest import load; load({str(tmp_path)!r});"
            "assert not {'numba', 'pyspark'} & set(sys.modules), 'heavy import'")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
