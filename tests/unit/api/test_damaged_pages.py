"""A byte of a page that is not the one that was written: no reader takes it for another value."""

import re
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import applier
from applier.io.parquet_reading import open_parquet
from applier.snapshot import manifest
from applier.snapshot.reader import read_columns
from keysearch.kernel_cache import ROOT
from tests.recorded.archives.demo_digest import ARCHIVE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A snapshot in which one byte of a table's only file was changed, and the rows before that."""
    made = applier.replay(ARCHIVE, tmp_path_factory.mktemp("snapshot") / "now").snapshot
    table = made.tables["shop.orders"]
    rows = table.to_arrow()
    [path] = table.files
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    with open(path, "r+b") as file:
        file.seek(column.data_page_offset + column.total_compressed_size - 3)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 1]))
    return applier.Snapshot(made.uri), rows


READERS = {
    "to_arrow": lambda table: table.to_arrow(),
    "some columns": lambda table: table.to_arrow(["id"]),
    "to_pandas": lambda table: table.to_pandas(),
}
LIBRARIES = {
    "scan": lambda table: table.scan().to_table(),
    "a stream": lambda table: pa.table(table),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_page_is_an_error_that_names_its_file(damaged, reader):
    table = damaged[0].tables["shop.orders"]
    with pytest.raises(applier.SnapshotError, match="does not match its checksum") as error:
        READERS[reader](table)
    assert error.value.file == table.files[0] and "backup" in error.value.hint


@pytest.mark.parametrize("reader", LIBRARIES)
def test_other_libraries_raise_errors_of_their_own(damaged, reader):
    with pytest.raises(OSError, match="CRC"):
        LIBRARIES[reader](damaged[0].tables["shop.orders"])


def test_so_does_duckdb(damaged):
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(duckdb.Error, match="CRC"):
        damaged[0].sql("SELECT sum(id) FROM shop.orders").fetchall()


def test_columns_that_are_read_to_be_published_are_checked(damaged):
    snapshot = manifest.load(damaged[0].uri)
    [table] = [entry for entry in snapshot.tables if entry.full_name == "shop.orders"]
    with pytest.raises(applier.SnapshotError, match="does not match its checksum"):
        read_columns(snapshot.root, table.files[0], table.definition, ["id"])


def test_a_missing_file_is_named(damaged, tmp_path):
    shutil.copytree(damaged[0].uri, tmp_path / "copy")
    table = applier.Snapshot(tmp_path / "copy").tables["shop.customers"]
    (tmp_path / "copy" / table.files[0]).unlink()
    with pytest.raises(applier.SnapshotError, match="missing") as error:
        table.to_arrow()
    assert error.value.file == table.files[0]


def test_what_is_wrong_with_a_filter_is_not_taken_for_damage(damaged):
    with pytest.raises(pa.ArrowException):
        damaged[0].tables["shop.customers"].to_arrow(filter=pa.compute.field("none") == 1)


def test_files_without_checksums_are_read(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "plain.parquet")
    assert open_parquet(tmp_path / "plain.parquet").read().to_pydict() == {"a": [1]}


def test_every_reader_opens_files_in_one_place():
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "applier").rglob("*.py")
             if re.search(r"(ParquetFile|pq\.read_table)\(|format=\"parquet\"", path.read_text())}
    assert found == {"applier/io/parquet_reading.py"}
