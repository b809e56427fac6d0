"""Invalid dates are null to readers of a snapshot, and what they are to a replay: '0000-00-00' is no NULL,
'2024-00-05' is another one, in unique keys, in row compare, over ALTER, and from a base on."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped, SnapshotError
from applier.jobs.exporting.job import export_snapshot
from applier.jobs.replay.job import replay_with
from applier.options import ExportOptions, ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.snapshot.files import value_marks
from applier.snapshot.reader import read_unit
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.real_server import Case, differences

both_routes = pytest.mark.parametrize("route", ["walk", "shuffle"])


@both_routes
@pytest.mark.parametrize("name", ["zero-dates-mysql", "zero-dates-mariadb"])
def test_each_mark_from_the_snapshot_of_the_mark_before(name, route, tmp_path):
    """FIND, AP-SNAP: rows are found by such dates, tables without a key among them; then ALTER makes text, numbers and
    other dates of what a base holds, drops partitions by it, and makes such dates."""
    case, base = Case(name), None
    for mark in [*case.marks, None]:
        output = tmp_path / (mark.name if mark else "end")
        stop = {"stop_position": (mark.file, mark.offset)} if mark else {}
        replay_with(ThisProcess(2), ReplayOptions(tuple(map(str, case.binlogs)), str(output), base=base, route=route,
                                                  **stop))
        assert differences(output, case.expected(mark) if mark else case.expected()) == [], mark
        base = str(output)


CREATE = "CREATE TABLE d.t (id INT NOT NULL, d DATE{}, {})"
ZERO, OTHER = b"\0\0\0", (2024 << 9 | 5).to_bytes(3, "little")
LOAD = "INSERT INTO `d`.`t` (`id`,`d`) VALUES"


def log(path, keys, *groups, null="", then=""):
    """A log of groups of (rows before, rows after), rows being (id, bytes of the date), and `then` a statement."""
    [created] = parse_statement(CREATE.format(null, keys), server_charset="utf8mb4")

    def image(rows):
        return rows and {"id": pa.array([row[0] for row in rows], pa.int32()),
                         "d": pa.array([row[1] for row in rows], pa.binary(3))}

    with BinlogWriter(path) as writer:
        writer.query(CREATE.format(null, keys), "d")
        for before, after in groups:
            with writer.transaction():
                writer.rows(RowChanges(created.definition, image(before), image(after)))
        if then:
            writer.query(then, "d")


def replayed(tmp_path, output="out", **options):
    replay_with(ThisProcess(1), ReplayOptions((str(tmp_path / "binlog.000001"),), str(tmp_path / output), **options))
    return tmp_path / output


@pytest.mark.parametrize("keys, null, key", [
    ("PRIMARY KEY (id), UNIQUE KEY day (d)", "", "day (d) = '0000-00-00'"),
    ("PRIMARY KEY (id), UNIQUE KEY day (d)", " NOT NULL", "day (d) = '0000-00-00'"),
    ("PRIMARY KEY (d)", " NOT NULL", "PRIMARY (d) = '0000-00-00'")])
@both_routes
def test_the_same_date_twice_in_a_unique_key_stops_the_replay(keys, null, key, route, tmp_path):
    """1062: NULLs never meet, zero dates do."""
    log(tmp_path / "binlog.000001", keys, (None, [(1, ZERO), (2, OTHER)]), (None, [(3, ZERO)]), null=null)
    with pytest.raises(ReplayStopped) as stopped:
        replayed(tmp_path, route=route)
    assert (stopped.value.mysql_errno, stopped.value.key) == (1062, key)


@both_routes
def test_a_key_of_such_dates_finds_divides_and_sorts(route, tmp_path):
    """FIND: by the date that it is; the manifest's key ranges are those that a later replay goes by."""
    log(tmp_path / "binlog.000001", "PRIMARY KEY (d)",
        (None, [(1, OTHER), (2, ZERO), (3, (2024 << 9 | 1 << 5 | 1).to_bytes(3, "little"))]),
        ([(2, ZERO)], [(20, ZERO)]), ([(1, OTHER)], None), null=" NOT NULL")
    first = replayed(tmp_path, "first", route=route, stop_gtid=None)
    table = manifest.load(str(first)).tables[0]
    rows = pq.read_table(first / table.files[0].path, partitioning=None).to_pylist()
    assert [(row["id"], str(row["d"])) for row in rows] == [(20, "None"), (3, "2024-01-01")]


def test_what_a_file_says_of_them_is_what_a_server_gets_back(tmp_path):
    """Readers see null; export writes each date, in a nullable column, too, beside a NULL."""
    log(tmp_path / "binlog.000001", "PRIMARY KEY (id)", (None, [(1, ZERO), (2, None), (3, OTHER)]))
    out = replayed(tmp_path)
    [file] = out.glob("d/t/*.parquet")
    assert pq.read_table(file, partitioning=None).column("d").null_count == 3
    export_snapshot(ExportOptions(str(out), str(tmp_path / "sql"), "sql"))
    text = (tmp_path / "sql/d/t/0000.sql").read_text()
    assert text.split(LOAD)[1].split() == ["(1,'0000-00-00'),", "(2,NULL),", "(3,'2024-00-05');"]


def test_a_damaged_mark_is_an_error(tmp_path):
    log(tmp_path / "binlog.000001", "PRIMARY KEY (id)", (None, [(1, ZERO)]))
    out = replayed(tmp_path)
    [file] = out.glob("d/t/*.parquet")
    rows = pq.read_table(file, partitioning=None)
    with pq.ParquetWriter(file, rows.schema) as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata({value_marks.DATES_KEY: b"AAAA"})
    snapshot = manifest.load(str(out))
    with pytest.raises(SnapshotError, match="damaged"):
        read_unit(snapshot.uri, snapshot.tables[0].files, rows.schema)


@both_routes
def test_what_alter_has_made_text_of_is_no_date(route, tmp_path):
    """--zero-dates error: no value becomes null."""
    path, change = tmp_path / "binlog.000001", (None, [(1, ZERO), (2, OTHER)])
    log(path, "PRIMARY KEY (id)", change)
    with pytest.raises(ReplayStopped, match=r"2 dates are invalid and would become null: \S+\.\S+\.\S+ \(\d\)"):
        replayed(tmp_path, route=route, zero_dates="error")
    log(path, "PRIMARY KEY (id)", change, then="ALTER TABLE t MODIFY d VARCHAR(30)")
    out = replayed(tmp_path, route=route, zero_dates="error")
    [file] = out.glob("d/t/*.parquet")
    assert pq.read_table(file, partitioning=None).column("d").to_pylist() == ["0000-00-00", "2024-00-05"]
