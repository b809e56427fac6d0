"""`applier.binlog.Writer`: logs of people's own, and what is said where they make no sense."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

import applier
import applier.binlog
from jsondiff import Diff, Operation, path

CREATE = "CREATE TABLE d.t (id INT PRIMARY KEY, n BIGINT UNSIGNED, kind ENUM('a', 'b'), tags SET('x', 'y'), j JSON)"
ALL = {"id": [1, 2], "n": [2**64 - 1, None], "kind": ["b", ""], "tags": ["x,y", ""], "j": ["[1]", None]}
ROWS = [{"id": 1, "n": 2**64 - 1, "kind": "b", "tags": "x,y", "j": "[1]"},
        {"id": 2, "n": None, "kind": "", "tags": "", "j": None}]
FLAVOURS = "mysql", "mariadb"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "made.000001"


def made(file, table="d.t", **options):
    return applier.replay(file, file.parent / "out", **options).snapshot.tables[table].to_arrow().to_pylist()


def names(file):
    return [event.name for event in applier.binlog.open(str(file))]


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_full_images(file, flavour, compress):
    with applier.binlog.Writer(file, flavour=flavour, compress=compress) as log:
        log.query(CREATE)
        with log.transaction():
            log.insert("d.t", ALL)
        with log.transaction():
            log.update("d.t", ALL, ALL | {"n": [1, 2]})
            log.delete("d.t", {name: values[:1] for name, values in (ALL | {"n": [1]}).items()})
    assert made(file) == [ROWS[1] | {"n": 2}]


def test_rows_one_by_one(file):
    with applier.binlog.Writer(file) as log:
        log.query(CREATE)
        with log.transaction():
            log.insert("d.t", ROWS)
        for wrong in ([{"id": 3}, {"n": 3}], [3]):
            with log.transaction(), pytest.raises(applier.UsageError, match=r"these are not rows: .*give values by"):
                log.insert("d.t", wrong)
    assert made(file) == ROWS


@pytest.mark.parametrize("compress", [False, True])
def test_minimal_images_and_json_diffs(file, compress):
    with applier.binlog.Writer(file, compress=compress) as log:
        log.query(CREATE)
        with log.transaction():
            log.insert("d.t", ALL)
            log.insert("d.t", {"id": [3]})
        with log.transaction():
            change = Diff(Operation.INSERT, path.parse("$[1]"), "new")
            log.update("d.t", {"id": [1]}, {"j": [[change]]}, diffs=["j"])
            log.delete("d.t", {"id": [2]})
    assert [(row["id"], row["j"]) for row in made(file)] == [(1, '[1, "new"]'), (3, None)]


def test_transactions_are_payloads_and_rows_are_zipped(tmp_path):
    for flavour, event in (("mysql", "TRANSACTION_PAYLOAD"), ("mariadb", "WRITE_ROWS_COMPRESSED_V1")):
        file = tmp_path / f"{flavour}.000001"
        with applier.binlog.Writer(file, flavour=flavour, compress=True) as log:
            log.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
            with log.transaction():
                log.insert("d.t", {"id": range(1000)})
        assert event in names(file)
        assert file.stat().st_size < 4500


@pytest.mark.parametrize("gtids", ["on", "anonymous", "none"])
def test_gtids(file, gtids):
    source = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
    with applier.binlog.Writer(file, gtids=gtids, source=source, executed=7) as log:
        log.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        with log.transaction(datetime(2026, 3, 14, 10, 30, tzinfo=UTC)):
            log.insert("d.t", {"id": [1]})
    summary = applier.summary(file)
    assert summary.gtids == (f"{source}:1-9" if gtids == "on" else "")
    assert summary.largest[0].time == datetime(2026, 3, 14, 10, 30, tzinfo=UTC).timestamp()


def test_rows_go_by_the_definition_that_holds(file):
    with applier.binlog.Writer(file) as log:
        log.query("CREATE TABLE t (id INT PRIMARY KEY, old INT)", "d")
        log.query("ALTER TABLE t ADD COLUMN made DATE, DROP COLUMN old, RENAME TO u", "d")
        with log.transaction():
            log.insert("d.u", pa.table({"id": pa.array([1], pa.int64()), "made": ["2026-03-14"]}))
        with pytest.raises(applier.UsageError, match=r"the table d\.t has no definition"), log.transaction():
            log.insert("d.t", {"id": [2]})
    assert made(file, "d.u") == [{"id": 1, "made": datetime(2026, 3, 14).date()}]


def test_the_next_file_goes_on(tmp_path):
    with applier.binlog.Writer(tmp_path / "made.000001") as log:
        log.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
        log.rotate(tmp_path / "made.000002")
        with log.transaction():
            log.insert("d.t", {"id": [1]})
        with log.transaction(rollback=True):
            log.insert("d.t", {"id": [2]})
        position = log.position
    assert position == (str(tmp_path / "made.000002"), (tmp_path / "made.000002").stat().st_size)
    assert applier.replay(tmp_path, tmp_path / "out").snapshot.tables["d.t"].rows == 1


def test_nothing_of_a_transaction_is_written_after_an_error(file):
    with applier.binlog.Writer(file) as log:
        log.query(CREATE)
        with pytest.raises(RuntimeError), log.transaction():
            log.insert("d.t", ALL)
            raise RuntimeError
    assert applier.summary(file).rows.rows == 0


@pytest.mark.parametrize("columns, says", [
    ({"id": [1], "nothing": [2]}, "the table has no column 'nothing'"),
    ({"id": [1 << 31]}, "column id: Integer value 2147483648 not in range"),
    ({"id": [1], "n": [-1]}, "column n: "),
    ({"id": [1], "kind": ["c"]}, "column kind: 'c' is not a value of enum"),
    ({"id": [1], "tags": ["x,z"]}, "column tags: 'x,z' is not a value of set"),
    ({"id": [1], "j": ["{"]}, "column j: "),
    ({"id": [1, 2], "n": [1]}, "columns of one length"),
    ({"id": ["one"]}, "column id: "),
    ({}, "columns of one length"),
])
def test_values_that_columns_cannot_hold(file, columns, says):
    with applier.binlog.Writer(file) as log:
        log.query(CREATE)
        with pytest.raises(applier.UsageError) as refused, log.transaction():
            log.insert("d.t", columns)
    assert says in str(refused.value) and refused.value.table == "d.t"


def test_rows_outside_a_transaction_and_unknown_kinds_of_logs(file):
    with applier.binlog.Writer(file) as log:
        log.query(CREATE)
        with pytest.raises(applier.UsageError, match="belong in a transaction"):
            log.insert("d.t", ALL)
        with pytest.raises(applier.SchemaError):
            log.query("ALTER TABLE d.t ADD COLUMN")
    with pytest.raises(applier.UsageError, match="`flavour` cannot be 'postgres'"):
        applier.binlog.Writer(file, flavour="postgres")
    with pytest.raises(AttributeError):
        applier.binlog.Wirter  # noqa: B018
