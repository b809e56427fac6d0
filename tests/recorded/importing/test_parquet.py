"""Parquet files with a schema file: what they hold, or an error, never something near it."""

import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier import cli
from applier.jobs.importing.job import import_dump
from applier.jobs.importing.parquet_file import NotTheColumns, parquet_values
from applier.mysql.values.zero_dates import to_python
from applier.options import ImportOptions
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from tests.recorded.importing.test_import_job import rows_of
from tests.support.real_server import differences

DUMPS = Path(__file__).parent / "dumps"


def column_of(sql):
    [made] = parse_statement(f"CREATE TABLE d.t (c {sql})", default_database="d", sql_mode="", flavour="mysql",
                             server_charset="utf8mb4")
    return made.definition.columns[0]


@pytest.mark.parametrize("server", ["mysql", "mariadb"])
def test_every_type(server, tmp_path):
    """The files of a snapshot as files of anybody: the same tables, at the position that is given."""
    first, out = tmp_path / "first", tmp_path / "out"
    import_dump(ImportOptions(str(DUMPS / server / "plain.sql.gz"), str(first)))
    assert cli.main(["import", str(first), "--schema", str(first / "_schema.sql"), "--output", str(out), "--flavour",
                     server, "--position", "binlog.000004:1234"]) == 0
    assert differences(out, DUMPS / server / "expected") == []
    assert str(manifest.load(str(out)).position) == "binlog.000004:1234"
    for before, after in zip(manifest.load(str(first)).tables, manifest.load(str(out)).tables, strict=True):
        assert (before.key, before.key_kind, before.key_rules) == (after.key, after.key_kind, after.key_rules)


def test_files_of_other_programs(tmp_path):
    """Columns in any order and in wider types, rows in any order over files; a column that is left out takes its
    default or is computed; DB.TABLE.parquet and DB/TABLE/….parquet."""
    (tmp_path / "s.sql").write_text(
        "CREATE TABLE d.t (id INT UNSIGNED PRIMARY KEY, n DECIMAL(6,2), v VARCHAR(5) NOT NULL DEFAULT 'none', "
        "at DATETIME(3), g INT GENERATED ALWAYS AS (id + 1) STORED); "
        "CREATE TABLE d.`a/b` (x BINARY(3), e ENUM('p','q')); CREATE TABLE d.nothing (i INT);")
    rows = tmp_path / "rows"
    (rows / "d" / "a%2Fb").mkdir(parents=True)
    instant = datetime.datetime(2024, 1, 2, 3, 4, 5, 678000)
    pq.write_table(pa.table({"at": pa.array([instant, None], pa.timestamp("ns")), "ID": pa.array([7, 3], pa.int64()),
                             "n": pa.array([Decimal("1.5"), None], pa.decimal128(20, 1))}), rows / "d.t.parquet")
    pq.write_table(pa.table({"x": [b"a", None], "e": pa.array(["q", None]).dictionary_encode()}),
                   rows / "d" / "a%2Fb" / "1.parquet")
    out = tmp_path / "out"
    assert cli.main(["import", str(rows), "--schema", str(tmp_path / "s.sql"), "--output", str(out)]) == 0
    assert rows_of(out, "d", "t") == [(3, None, "none", None, 4), (7, Decimal("1.50"), "none", instant, 8)]
    assert rows_of(out, "d", "a/b") == [(b"a\0\0", "q"), (None, None)] and rows_of(out, "d", "nothing") == []


@pytest.mark.parametrize("sql, values", [
    ("TINYINT", pa.array([128])), ("INT UNSIGNED", pa.array([-1])), ("INT UNSIGNED", pa.array([1 << 32])),
    ("MEDIUMINT", pa.array([1 << 23])), ("BIT(3)", pa.array([8])), ("YEAR", pa.array([2156])), ("INT", pa.array([1.5])),
    ("INT", pa.array(["1"])), ("VARCHAR(2)", pa.array(["abc"])), ("VARCHAR(9)", pa.array([1])),
    ("VARBINARY(2)", pa.array([b"abc"])), ("BINARY(2)", pa.array([b"abc"])), ("ENUM('a')", pa.array(["b"])),
    ("SET('a','b')", pa.array(["a,c"])), ("FLOAT", pa.array([0.1])), ("DECIMAL(4,1)", pa.array([Decimal("1.25")])),
    ("DECIMAL(3,1)", pa.array([Decimal("100.0")])), ("DECIMAL(3,1) UNSIGNED", pa.array([Decimal("-1.0")])),
    ("DATETIME", pa.array([1], pa.timestamp("us"))), ("DATETIME(6)", pa.array([1], pa.timestamp("ns"))),
    ("TIME", pa.array([839 * 3600], pa.duration("s"))), ("TIMESTAMP", pa.array([-1], pa.timestamp("s", "UTC"))),
    ("INT NOT NULL", pa.array([None], pa.int32())), ("VARCHAR(3)", pa.array([b"\xff"]))])
def test_what_does_not_fit_is_refused(sql, values):
    """A server would cut, round or refuse it."""
    with pytest.raises(NotTheColumns):
        parquet_values(values, column_of(sql))


@pytest.mark.parametrize("sql, values, held", [
    ("BIGINT UNSIGNED", pa.array([1 << 63], pa.uint64()), [Decimal(1 << 63)]), ("CHAR(4)", pa.array(["a  "]), ["a"]),
    ("SET('a','b')", pa.array(["", "a,b"]), ["", "a,b"]), ("DOUBLE", pa.array([0.1]), [0.1]),
    ("FLOAT", pa.array([0.5]), [0.5]), ("TIME(6)", pa.array([1], pa.time64("us")), [datetime.timedelta(0, 0, 1)]),
    ("DATE NOT NULL", pa.array([None], pa.date32()), ["0000-00-00"]),
    ("TEXT", pa.array(["x"], pa.large_string()), ["x"]),
    ("JSON", pa.array(['{"b":1,"a":[1,2]}']), ['{"a": [1, 2], "b": 1}']), ("BOOL", pa.array([True]), [1])])
def test_what_fits(sql, values, held):
    """Other types with the same values; a zero date is NULL in a NOT NULL column."""
    assert to_python(parquet_values(values, column_of(sql))) == held


def test_errors_name_file_and_column(tmp_path, capsys):
    """A column that there is none of, a value that does not fit, a file that says no table, a snapshot as it is."""
    (tmp_path / "s.sql").write_text("CREATE TABLE d.t (id TINYINT)")
    rows, output = tmp_path / "rows", ["--schema", str(tmp_path / "s.sql"), "--output", str(tmp_path / "out")]
    rows.mkdir()
    for table, code, words in [(pa.table({"x": [1]}), 1, ("x", "d.t")), (pa.table({"id": [999]}), 1, ("id", "999"))]:
        pq.write_table(table, rows / "d.t.parquet")
        assert cli.main(["import", str(rows), *output]) == code
        said = " ".join(capsys.readouterr().err.split())
        assert all(word in said for word in ("d.t.parquet", *words))
    (rows / "d.t.parquet").rename(rows / "t.parquet")
    assert cli.main(["import", str(rows), *output]) == 2
    assert "DB.TABLE.parquet" in capsys.readouterr().err
    import_dump(ImportOptions(str(tmp_path / "s.sql"), str(tmp_path / "snapshot")))
    assert cli.main(["import", str(tmp_path / "snapshot"), "--output", str(tmp_path / "out")]) == 2
    assert "--base" in capsys.readouterr().err
