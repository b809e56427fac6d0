"""--parquet: what files have, as their own metadata says, and what later replays keep."""

import pathlib

import duckdb
import pyarrow.parquet as pq
import pytest

import applier
import applier.binlog
from applier import cli
from applier.api.lakes import compact
from applier.errors import UsageError
from applier.options import ReplayOptions, parquet
from applier.snapshot import manifest
from tests.support.merging import merged_rows
from tests.support.small_logs import commit, insert, new_log, update

ALL = {"compression": "gzip", "compression-level": "3", "row-group-size": "1M", "page-index": "yes",
       "bloom-filter": "keys"}
ROWS = [(n, n, f"{n:020}") for n in range(40_000)]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """An archive: rows, then one of them changed twice; and the ends of its transactions."""
    folder = tmp_path_factory.mktemp("settings")
    written = new_log(folder)
    ends = [commit(written, insert(ROWS))[1]]
    for number in (1, 2):
        ends.append(commit(written, update([(5, 4 + number, f"{5:020}")], [(5, 5 + number, f"{5:020}")]))[1])
    written.close()
    return str(folder), [("binlog.000001", end) for end in ends]


def dump(folder, key, rows=500):
    values = ",".join(f"({n},'n{n}',{n}.5,'2026-01-01',x'{n:08x}',{n % 7})" for n in range(rows))
    (folder / "d.sql").write_text(
        "CREATE DATABASE d;\nCREATE TABLE d.t (a BIGINT NOT NULL, b VARCHAR(20) NOT NULL, c DECIMAL(30,1) NOT NULL, "
        f"d DATE NOT NULL, e VARBINARY(9) NOT NULL, f TINYINT NOT NULL, PRIMARY KEY ({key}));\n"
        f"INSERT INTO d.t VALUES {values};\n")
    return folder / "d.sql"


def columns_of(file):
    group = pq.read_metadata(file).row_group(0)
    return {group.column(number).path_in_schema: group.column(number) for number in range(group.num_columns)}


def files_of(snapshot, name="shop.item"):
    return [pathlib.Path(file) for file in applier.Snapshot(snapshot).tables[name].files]


def test_files_of_a_snapshot_have_what_was_asked_for(log, tmp_path):
    """On the command line; the row groups are of about that size, in Arrow's form."""
    archive, _ = log
    assert cli.main(["replay", "--binlogs", archive, "--output", str(tmp_path / "out"),
                     *(f"--parquet={name}={value}" for name, value in ALL.items())]) == 0
    [file] = files_of(tmp_path / "out")
    columns, groups = columns_of(file), pq.read_metadata(file).num_row_groups
    assert {column.compression for column in columns.values()} == {"GZIP"}
    assert columns["id"].has_column_index and all(column.has_offset_index for column in columns.values())
    assert groups == 2 and pq.ParquetFile(file).read_row_group(0).nbytes == pytest.approx(1 << 20, rel=0.2)
    assert applier.Snapshot(tmp_path / "out").verify().damaged == ()


@pytest.mark.parametrize("key", ["a", "b", "c,d", "e", "f,a"])
def test_bloom_filters_of_keys(tmp_path, key):
    """Of each of its columns, except bytes, and of no other; readers pass over what is not there."""
    made = applier.import_dump(dump(tmp_path, key), tmp_path / "out", flavour="mysql",
                               parquet={"bloom_filter": "keys"}).snapshot
    [file] = made.tables["d.t"].files
    found = duckdb.sql(f"SELECT path_in_schema FROM parquet_metadata('{file}') WHERE bloom_filter_offset IS NOT NULL")
    assert [name for name, in found.fetchall()] == sorted({*key.split(",")} - {"e"})
    if key == "a":
        probe = f"SELECT bloom_filter_excludes FROM parquet_bloom_probe('{file}', 'a', ?)"
        assert [duckdb.execute(probe, [value]).fetchall() for value in (3, 99_999_999)] == [[(False,)], [(True,)]]
    assert made.verify().damaged == () and made.tables["d.t"].to_arrow().num_rows == 500


@pytest.mark.parametrize("kind, values", [
    ("DOUBLE", [-0.0, 1.5]), ("BINARY(5)", [b"ab\0\0\0", b"\0\xff\x80a\1"]), ("VARBINARY(9)", [b"", b"\x80"]),
    ("VARCHAR(9)", ["é", ""]), ("BIGINT UNSIGNED", [0, 2**64 - 1])])
def test_bloom_filters_hide_no_row(tmp_path, kind, values):
    with applier.binlog.Writer(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query(f"CREATE TABLE t (a {kind} PRIMARY KEY)", "d")
        with log.transaction():
            log.insert("d.t", {"a": values})
    made = applier.replay(tmp_path / "binlog.000001", tmp_path / "out", parquet={"bloom_filter": "keys"}).snapshot
    [file] = made.tables["d.t"].files
    for value in values:
        assert duckdb.execute(f"SELECT count(*) FROM '{file}' WHERE a = ?",
                              [0.0 if value == 0 else value]).fetchall() == [(1,)]


@pytest.mark.parametrize("compression, level", [
    ("zstd", "19"), ("snappy", None), ("lz4", None), ("none", None), ("gzip", None), ("zstd", None)])
def test_codecs(tmp_path, compression, level):
    chosen = {"compression": compression} | ({"compression-level": level} if level else {})
    made = applier.import_dump(dump(tmp_path, "a"), tmp_path / "out", flavour="mysql", parquet=chosen).snapshot
    names = {column.compression for column in columns_of(made.tables["d.t"].files[0]).values()}
    assert names == {{"none": "UNCOMPRESSED"}.get(compression, compression.upper())}
    assert len(duckdb.sql(f"SELECT * FROM '{made.tables['d.t'].files[0]}'").fetchall()) == 500


@pytest.mark.parametrize("merges", [False, True])
def test_a_lake_keeps_them(log, tmp_path, merges):
    """A round has what the latest version has, but for what it is given; a codec's level goes with the codec."""
    archive, ends = log
    lake = tmp_path / "lake"
    for stop, given, recorded in (
            (ends[0], ALL, ["compression=gzip", "compression-level=3", "row-group-size=1M", "page-index=yes",
                            "bloom-filter=keys"]),
            (ends[1], None, ["compression=gzip", "compression-level=3", "row-group-size=1M", "page-index=yes",
                             "bloom-filter=keys"]),
            (ends[2], {"compression": "snappy"},
             ["compression=snappy", "row-group-size=1M", "page-index=yes", "bloom-filter=keys"])):
        before = set(lake.rglob("part-*"))
        applier.replay([archive], lake=lake, stop=stop, merge_on_read=merges and stop == ends[0], parquet=given)
        assert manifest.load(str(applier.Snapshot(lake).uri)).source.options["parquet"] == recorded
        written = [file for file in set(lake.rglob("part-*")) - before if file.suffix != ".positions"]
        assert written
        for file in written:
            column = columns_of(file)["id"]
            assert column.compression == recorded[0].partition("=")[2].upper() and column.has_column_index
    if merges:
        before = set(lake.rglob("part-*"))
        assert compact(lake).files == 1
        [file] = set(lake.rglob("part-*")) - before
        assert columns_of(file)["id"].compression == "SNAPPY" and columns_of(file)["id"].has_column_index
        assert manifest.load(str(applier.Snapshot(lake).uri)).source.options["parquet"] == recorded
    [changed] = [row for row in merged_rows(lake)["shop.item"] if row["id"] == 5]
    assert changed["n"] == 7


def test_defaults(tmp_path):
    made = applier.import_dump(dump(tmp_path, "a"), tmp_path / "out", flavour="mysql").snapshot
    [file] = made.tables["d.t"].files
    columns = columns_of(file)
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert not any(column.has_offset_index or column.has_column_index for column in columns.values())
    assert "parquet" not in manifest.load(str(made.uri)).source.options


@pytest.mark.parametrize("text, match", [
    ("codec=zstd", "is not a property"), ("page-index", "is not a property"), ("compression=lzo", "'lzo' is not"),
    ("page-index=true", "'true' is not"), ("row-group-size=64", "is not a size"), ("row-group-size=2G", "too large"),
    ("compression-level=fast", "is not a number"), ("compression-level=23", "zstd has no level 23")])
def test_wrong_properties(log, tmp_path, text, match):
    archive, _ = log
    name, _, value = text.partition("=")
    with pytest.raises(UsageError, match=match):
        if "=" in text:
            applier.replay([archive], tmp_path / "out", parquet={name: value})
        parquet.parse_parquet([text])
    assert not (tmp_path / "out").exists()


def test_levels_are_of_codecs():
    with pytest.raises(UsageError, match="snappy has no level 1"):
        parquet.file_settings((("compression", "snappy"), ("compression-level", "1")))
    with pytest.raises(UsageError, match="is not a property"):
        parquet.parquet_onto({"parquet": {"made": "by hand"}}, ())
    assert ReplayOptions(("a",), "out", parquet=(("page-index", "yes"),)).for_manifest()["parquet"] == [
        "page-index=yes"]


def test_a_pyarrow_without_bloom_filters(monkeypatch):
    monkeypatch.setattr(pq, "ParquetWriter", lambda where, schema: None)
    with pytest.raises(UsageError, match="pyarrow cannot write bloom filters"):
        parquet.parse_parquet(["bloom-filter=keys"])
    assert parquet.parse_parquet(["bloom-filter=none"]) == (("bloom-filter", "none"),)
