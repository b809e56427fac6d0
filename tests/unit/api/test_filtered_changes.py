"""`applier.changes` of some transactions, of some rows, or from a time on: which changes, and what of the log is read
for them."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import applier
from applier.apply.output import row_steps
from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating.gtid_choice import GtidChoice
from applier.cli import app
from applier.jobs.changes import single_images
from applier.jobs.changes.chosen_rows import ChosenRows
from applier.jobs.changes.whole import whole_rows
from applier.mysql.types import arrow_type
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.values import image_values
from applier.writer.wire_columns import wire_columns
from applier.writer.writer import BinlogWriter
from tests.recorded.archives.demo_digest import ARCHIVE

SOURCE = "00000000-0000-4000-8000-000000000001"


def written(folder, *texts, flavour="mysql", **options):
    """A log with one table d.t of an id and a text, and a transaction for each row; its path and its GTIDs."""
    with BinlogWriter(folder / "binlog.000001", flavour=flavour, **options) as log:
        log.query("CREATE DATABASE d")
        sql = "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(300))"
        log.query(sql)
        table = parse_statement(sql, default_database="d", flavour=flavour)[0].definition
        for number, text in enumerate(texts, 1):
            log.transactions([RowChanges(table, after={"id": pa.array([number], pa.int32()),
                                                       "v": pa.array([text])})])
    gtids = [row["_gtid"] for row in applier.changes(log.path, "d.t", columns=["id"]).to_arrow().to_pylist()]
    return log.path, gtids


def ids(binlogs, **options):
    return applier.changes(binlogs, "d.t", **options).to_arrow()["id"].to_pylist()


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_only_these_transactions(tmp_path, flavour, complete):
    """GRP-4: MySQL's sets with intervals, MariaDB's one by one, also where one has no change of the table."""
    path, gtids = written(tmp_path, *"abcdef", flavour=flavour)
    assert ids(path, gtids=gtids[3], complete=complete) == [4]
    assert ids(path, gtids=",".join([gtids[4], gtids[1], gtids[1]]), complete=complete) == [2, 5]
    source, separator, first = gtids[0].rpartition("-" if flavour == "mariadb" else ":")
    assert ids(path, gtids=f"{source}{separator}{int(first) - 1}", complete=complete) == []
    if flavour == "mysql":
        assert ids(path, gtids=f"{source}:{int(first) + 1}-{int(first) + 2}", complete=complete) == [2, 3]
        assert ids(path, gtids=GtidSet.parse(gtids[5]), complete=complete) == [6]


@pytest.mark.parametrize("text", ["", ",", "5", "0-1-5,0-1", f"{SOURCE}", f"0-1-5,{SOURCE}:1", f"{SOURCE}:5-1"])
def test_what_names_no_transactions(text):
    with pytest.raises(applier.UsageError):
        applier.changes(ARCHIVE, "shop.orders", gtids=text)


def test_a_place_in_a_mariadb_log_is_no_choice():
    with pytest.raises(applier.UsageError, match="is a position in a MariaDB log") as caught:
        applier.changes(ARCHIVE, "shop.orders", gtids=GtidSet.parse("0-1-5"))
    assert "0-1-5,0-1-7" in caught.value.hint


@pytest.mark.parametrize(("text", "logged", "may_be"), [
    (f"{SOURCE}:5", f"{SOURCE}:1-4:6-9", False), (f"{SOURCE}:5", f"{SOURCE}:1-4:5-9", True),
    (f"{SOURCE}:5:30-40", f"{SOURCE}:1-4:20-30", True), (f"{SOURCE}:1-100", f"{SOURCE}:50", True),
    (f"{SOURCE}:5", f"{SOURCE}:tag:5", False), (f"{SOURCE}:tag:5", f"{SOURCE}:tag:5", True), (f"{SOURCE}:5", "", False),
    ("1-1-5", "1-2-3,2-1-5", True), ("3-1-5", "1-2-3,2-1-5", False), (f"{SOURCE}:5", "0-1-5", False),
    (f"fe{SOURCE[2:]}:5", "0-1-5", False),
    (f"{SOURCE}:5-99999999999999999999", f"{SOURCE}:9223372036854775807", True)])
def test_files_that_cannot_have_them_are_known(text, logged, may_be):
    """GRP-7; MariaDB's numbers may go down, so that only the domain says something."""
    assert GtidChoice(text).may_be_in(GtidSet.parse(logged)) == may_be


def test_from_a_time_on():
    """GRP-2: where one that stops at the time ends."""
    time = datetime(2026, 3, 14, 10, 30, tzinfo=UTC)
    everything = applier.changes(ARCHIVE, "shop.orders").to_arrow()
    before = applier.changes(ARCHIVE, "shop.orders", stop=time).to_arrow()
    after = applier.changes(ARCHIVE, "shop.orders", start=time).to_arrow()
    assert 0 < len(before) < len(everything)
    assert [*before.to_pylist(), *after.to_pylist()] == everything.to_pylist()
    assert len(applier.changes(ARCHIVE, "shop.orders", start=time + timedelta(days=999)).to_arrow()) == 0


def test_what_is_not_wanted_is_not_decoded(tmp_path):
    """A row that cannot be decoded stops only who wants it."""
    path, gtids = written(tmp_path, "first", "second", "third", checksum=False)
    data = bytearray(open(path, "rb").read())
    data[data.index(b"\x06\x00second")] = 250
    open(path, "wb").write(data)
    with pytest.raises(applier.ArchiveError):
        ids(path)
    assert ids(path, gtids=f"{gtids[0]},{gtids[2]}") == [1, 3]
    with pytest.raises(applier.ArchiveError):
        ids(path, gtids=gtids[1])


def test_what_is_passed_over_is_compared_with_what_was_outlined(tmp_path):
    """Which groups are wanted is read from the log, too: a GTID that changes meanwhile is no reason to leave it out."""
    path, gtids = written(tmp_path, "first", "second", checksum=False)
    feed = applier.changes(path, "d.t", gtids=gtids[1])
    data = bytearray(open(path, "rb").read())
    [group] = applier.locate(path, gtid=gtids[1])
    at = data.index(int(gtids[1].rpartition(":")[2]).to_bytes(8, "little"), group.start)
    data[at] += 1
    open(path, "wb").write(data)
    with pytest.raises(applier.ArchiveError, match="outlined"):
        feed.to_arrow()


class Rows:
    """A log of one table d.t."""

    def __init__(self, folder, sql, **options):
        self.log = BinlogWriter(folder / "binlog.000001", **options)
        self.log.query("CREATE DATABASE d")
        self.ddl(sql)
        self.table = parse_statement(sql, default_database="d", flavour=self.log.flavour)[0].definition

    def ddl(self, sql):
        self.log.query(sql, "d")
        return self

    def write(self, *changes):
        with self.log.transaction():
            for before, after in changes:
                self.log.rows(RowChanges(self.table, before=before, after=after))
        return self

    def changes(self, *names, **options):
        self.log.close()
        rows = applier.changes(self.log.path, "d.t", **options).to_arrow().to_pylist()
        return [(row["_change_type"], *(row[name] for name in names)) for row in rows]


def ints(*values):
    return pa.array(values, pa.int32())


@pytest.mark.parametrize("complete", [False, True])
def test_only_these_rows(tmp_path, complete):
    """PKE, DEF-R2: an image that lacks the key has that of its row; a row that gets another key is in both."""
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, a INT)")
    log.write((None, {"id": ints(1, 2, 3), "a": ints(10, 20, 30)}), ({"id": ints(2)}, {"a": ints(21)}),
              ({"id": ints(2)}, {"id": ints(4)}), ({"id": ints(1)}, None), ({"id": ints(4)}, None))
    moved = [("update_preimage", 2, 21 if complete else None), ("update_postimage", 4, 21 if complete else None)]
    of_two = [("insert", 2, 20), ("update_preimage", 2, 20 if complete else None),
              ("update_postimage", 2 if complete else None, 21), *moved]
    assert log.changes("id", "a", key=2, complete=complete) == of_two
    assert log.changes("id", "a", key=[2], complete=complete) == of_two
    deleted = ("delete", 4, 21 if complete else None)
    assert log.changes("id", "a", key=4, complete=complete) == [*moved, deleted]
    assert log.changes("id", key=[3, 4], complete=complete) == [("insert", 3), *(row[:2] for row in moved), deleted[:2]]
    assert log.changes("a", columns=["a"], key=3, complete=complete) == [("insert", 30)]
    assert log.changes(key=5, complete=complete) == []
    assert log.changes(key=[], complete=complete) == []


@pytest.mark.parametrize(("kind", "value", "same"), [
    ("BIGINT UNSIGNED", (1 << 64) - 1, ["18446744073709551615", Decimal((1 << 64) - 1)]),
    ("DECIMAL(10,2)", Decimal("1.50"), ["1.5", 1.5]), ("DATE", date(2026, 3, 14), ["2026-03-14"]),
    ("DATETIME(3)", datetime(2026, 3, 14, 10, 30, 0, 125000), ["2026-03-14 10:30:00.125"]),
    ("TIMESTAMP", datetime(2026, 3, 14, 10, 30, tzinfo=UTC), [
        datetime(2026, 3, 14, 11, 30, tzinfo=timezone(timedelta(hours=1))), "2026-03-14 10:30:00"]),
    ("TIME", timedelta(hours=-30, minutes=-5), ["-30:05:00"]), ("VARCHAR(20)", "Straße", ["STRASE "]),
    ("VARBINARY(20)", b"a\xff", []), ("YEAR", 2026, [26, "26", np.int16(2026)]), ("DOUBLE", 1.5, [np.float32(1.5)]),
    ("DECIMAL(50,2)", "7.50", [Decimal("7.5"), np.float64(7.5)]), ("BIGINT", 1, [np.int64(1), True]),
    ("ENUM('new','paid')", "paid", ["2"]), ("BIT(10)", 513, ["513"])])
def test_values_of_keys(tmp_path, kind, value, same):
    """As a literal of the server is read, and as its collation compares them."""
    log = Rows(tmp_path, f"CREATE TABLE t (k {kind} COLLATE utf8mb4_general_ci NOT NULL, PRIMARY KEY (k))"
               if "CHAR" in kind else f"CREATE TABLE t (k {kind} NOT NULL, PRIMARY KEY (k))")
    stored = arrow_type(log.table.columns[0].type)
    others = {"VARCHAR(20)": "STRASS", "VARBINARY(20)": b"a", "ENUM('new','paid')": "new"}
    values = pa.array([value, others[kind]] if kind in others else [value], stored)
    log.write((None, {"k": image_values(values, log.table.columns[0], *wire_columns(log.table))}))
    for key in (value, *same, [value], (value,)):
        [(_, found)] = log.changes("k", key=key)
        assert found == value


def test_keys_of_several_columns(tmp_path):
    log = Rows(tmp_path, "CREATE TABLE t (a INT NOT NULL, b VARCHAR(9) NOT NULL, v INT, UNIQUE KEY (b, a))")
    log.write((None, {"a": ints(1, 1, 2), "b": pa.array(["x", "y", "x"]), "v": ints(1, 2, 3)}))
    assert log.changes("v", key=("x", 1)) == [("insert", 1)]
    assert log.changes("v", key=[("x", 2), ("y", 1), ("y", 2)]) == [("insert", 2), ("insert", 3)]


@pytest.mark.parametrize(("sql", "key", "message"), [
    ("CREATE TABLE t (id INT, UNIQUE KEY (id))", 1, "no key to choose rows by"),
    ("CREATE TABLE t (id INT PRIMARY KEY)", (1, 2), "1, 2 is not a key"),
    ("CREATE TABLE t (id INT, b INT, PRIMARY KEY (id, b))", 1, "1 is not a key of the table"),
    ("CREATE TABLE t (id TINYINT PRIMARY KEY)", 300, "300 is not a key of the table: 300 is out of the range"),
    ("CREATE TABLE t (id INT PRIMARY KEY)", "1.5", "'1.5' is none of int"),
    ("CREATE TABLE t (id INT PRIMARY KEY)", "one", "'one' is not a key of the table"),
    ("CREATE TABLE t (id DATE PRIMARY KEY)", "2026-02-31", "2026-02-31"),
    ("CREATE TABLE t (id DATE PRIMARY KEY)", "2026-02-01 00:00:00.6", "is none of date"),
    ("CREATE TABLE t (id DATE PRIMARY KEY)", datetime(2026, 2, 1, 1), "is none of date"),
    ("CREATE TABLE t (id DATETIME PRIMARY KEY)", "2026-02-01 00:00:00.6", "is none of datetime"),
    ("CREATE TABLE t (id TIMESTAMP(2) PRIMARY KEY)", datetime(2026, 2, 1, 0, 0, 0, 123000), "is none of timestamp"),
    ("CREATE TABLE t (id TIME PRIMARY KEY)", timedelta(seconds=1.5), "is none of time"),
    ("CREATE TABLE t (id YEAR PRIMARY KEY)", 2026.4, "2026.4 is none of year"),
    ("CREATE TABLE t (id DECIMAL(50,2) PRIMARY KEY)", "7.505", "'7.505' is none of decimal"),
    ("CREATE TABLE t (id VARCHAR(9) PRIMARY KEY)", (None,), "None is not a key .* a value of type NoneType"),
    ("CREATE TABLE t (id VARCHAR(9) PRIMARY KEY)", [[1]], r"\[1\] is not a key .* cannot contain a value of type list"),
    ("CREATE TABLE t (id VARCHAR(99) PRIMARY KEY)", object(), "cannot contain a value of type object"),
    ("CREATE TABLE t (id INT PRIMARY KEY)", np.timedelta64(1), "cannot contain a value of type timedelta64"),
    ("CREATE TABLE t (id INT PRIMARY KEY)", [10 ** 5000], "a number that long is not a key"),
    ("CREATE TABLE t (id INT PRIMARY KEY)", float("nan"), "nan is not a key")])
def test_what_is_no_key(tmp_path, sql, key, message):
    with pytest.raises(applier.UsageError, match=message):
        Rows(tmp_path, sql).changes(key=key)


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("collation", ["utf8mb4_general_ci", "utf8mb4_bin"])
def test_a_key_of_the_beginning_of_a_column(tmp_path, collation, complete):
    """As `=` of the whole column: a value that only begins alike is another."""
    log = Rows(tmp_path, f"CREATE TABLE t (k VARCHAR(9) COLLATE {collation} NOT NULL, v INT, PRIMARY KEY (k(3)))")
    log.write((None, {"k": pa.array(["abcq", "xyz"]), "v": ints(1, 2)}),
              ({"k": pa.array(["abcq"])}, {"k": pa.array(["abcr"])}))
    assert log.changes("v", key="abcdef", complete=complete) == []
    assert log.changes("v", key="abc", complete=complete) == []
    assert log.changes("k", key="abcr", complete=complete) == [
        ("update_preimage", "abcq"), ("update_postimage", "abcr")]
    assert len(log.changes("k", key="abcq", complete=complete)) == 3


def test_rows_of_earlier_versions_of_a_table(tmp_path):
    """Renamed, converted and added columns: by the last key, whatever the key was then; a version that lacks a column
    of it, or cannot hold the value, has no such rows."""
    log = Rows(tmp_path, "CREATE TABLE t (id TINYINT PRIMARY KEY, v INT)")
    log.write((None, {"id": pa.array([1, 2], pa.int8()), "v": ints(7, 8)})).ddl("ALTER TABLE t RENAME COLUMN id TO n")
    assert log.changes("n", key=2) == [("insert", 2)]
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY)").write((None, {"id": ints(300)}))
    log.ddl("DROP TABLE t").ddl("CREATE TABLE t (id TINYINT PRIMARY KEY)")
    assert log.changes(key=300, columns=[]) == [("insert",), ("truncate",)]
    with pytest.raises(applier.UsageError, match="70000000000 is out of the range of tinyint"):
        log.changes(key=70_000_000_000, columns=[])
    log = Rows(tmp_path, "CREATE TABLE t (id INT, v INT)")
    log.write((None, {"id": ints(5, None), "v": ints(1, 2)})).write(({"id": ints(None), "v": ints(2)}, None))
    log.ddl("ALTER TABLE t MODIFY id INT NOT NULL PRIMARY KEY").ddl("TRUNCATE TABLE t")
    assert log.changes("id", key=5) == [("insert", 5), ("alter", None), ("truncate", None)]
    assert log.changes("id", key=0) == [("alter", None), ("truncate", None)]
    log = Rows(tmp_path, "CREATE TABLE t (v INT)").write((None, {"v": ints(1)}))
    log.ddl("ALTER TABLE t ADD COLUMN id INT NOT NULL DEFAULT 3 PRIMARY KEY")
    assert log.changes("id", key=3) == [("alter", None)]


def test_rows_that_lacked_the_key_are_left_out_and_a_note_says_so(tmp_path):
    """INT and VARCHAR are two columns."""
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    log.write((None, {"id": ints(5), "v": ints(1)})).ddl("ALTER TABLE t MODIFY id VARCHAR(10)")
    note = (f"d.t before binlog.000001:{log.log.position} lacks columns of its last key: rows that it had then are not "
            "chosen")
    assert log.changes("id", key="5") == [("alter", None)]
    assert log.changes("id", key="5", complete=True) == [("alter", None), ("insert", "5")]
    for read in (applier.changes, applier.history):
        assert read(log.log.path, "d.t", key="5").notes == (note,)
        assert read(log.log.path, "d.t").notes == ()
    told = CliRunner().invoke(app, ["changes", "--binlogs", log.log.path, "--table", "d.t", "--key", "5"])
    assert note in told.stderr.replace("\n", " ")
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    log.ddl("ALTER TABLE t MODIFY id BIGINT").log.close()
    assert applier.changes(log.log.path, "d.t", key=5).notes == ()


def test_of_other_rows_only_the_key_is_decoded(tmp_path):
    """A value that is none stops only who wants its row."""
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, v JSON)", checksum=False)
    documents = image_values(pa.array(['"one"', '"another"']), log.table.columns[1], wire_columns(log.table)[1])
    log.write((None, {"id": ints(100001, 100002), "v": documents})).log.close()
    data = bytearray(open(log.log.path, "rb").read())
    data[data.index(b"another") - 2] = 99  # no type of a value
    open(log.log.path, "wb").write(data)
    assert log.changes("v", key=100001) == [("insert", '"one"')]
    assert log.changes("id", columns=["id"], key=100002) == [("insert", 100002)]
    with pytest.raises(applier.ArchiveError):
        log.changes("v", key=100002)


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_rows_in_compressed_events(tmp_path, flavour):
    """Images lie in the memory that events are inflated to, in one part of it after another."""
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(2000))", flavour=flavour, compress=True)
    numbers = list(range(9000))
    old, new = (pa.array([f"{number} {word} " * 120 for number in numbers]) for word in ("old", "new"))
    log.write((None, {"id": ints(*numbers), "v": old})).write(({"id": ints(*numbers), "v": old},
                                                              {"id": ints(*numbers), "v": new}))
    for complete in (False, True):
        some = log.changes("id", "v", key=[0, 4242, 8999], complete=complete)
        assert [row[:2] for row in some[:3]] == [("insert", 0), ("insert", 4242), ("insert", 8999)]
        assert len(some) == 9
        assert all(row[2] == f"{row[1]} {'new' if row[0] == 'update_postimage' else 'old'} " * 120 for row in some)


def test_what_is_kept_of_compressed_events_is_bounded(tmp_path, monkeypatch):
    """A batch that is not full is read where events that it has images of come to more."""
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, v MEDIUMBLOB)", compress=True)
    long = pa.array([b"x" * 400_000] * 4, pa.binary())
    for first in range(0, 40, 4):
        log.write((None, {"id": ints(*range(first, first + 4)), "v": long}))
    kept, real = [], ChosenRows.read
    monkeypatch.setattr(ChosenRows, "read", lambda self, *batch: kept.append(
        sum(memory.size for memory in self._inflated)) or real(self, *batch))
    monkeypatch.setattr(single_images, "MOST_INFLATED", 4_000_000)
    assert log.changes("id", "v", key=[1, 38]) == [("insert", 1, b"x" * 400_000), ("insert", 38, b"x" * 400_000)]
    assert len(kept) > 1 and max(kept) <= 8 << 20


def test_of_a_base_only_files_with_these_keys_are_read(tmp_path):
    """And of complete changes, others are not applied: what does not fit there stops nothing."""
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, v INT, w VARCHAR(3000))")
    log.write((None, {"id": ints(*range(3000)), "v": ints(*range(3000)),
                      "w": pa.array([b"%04d" % n * 700 for n in range(3000)])}))
    place = f"binlog.000001:{log.log.position}"
    log.write(({"id": ints(7)}, {"v": ints(8)}), ({"id": ints(2900)}, {"v": ints(1)}), ({"id": ints(5000)}, None))
    log.log.close()
    base = applier.replay(log.log.path, tmp_path / "base", stop=place, target_file_size="1M").snapshot
    *others, last = base.tables["d.t"].files
    assert others
    open(last, "r+b").truncate(100)
    for key, rows in ((7, [("update_preimage", 7), ("update_postimage", 8)]), (8, []), (6000, [])):
        assert log.changes("v", key=key, base=base, complete=True) == rows
    for key in (2900, None):
        with pytest.raises(applier.ApplierError):
            log.changes("v", key=key, base=base, complete=True)


def test_a_row_that_goes_to_another_part_of_a_base(tmp_path, monkeypatch):
    """Both images, though rows of the two keys are of files that are applied apart."""
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(3000))")
    log.write((None, {"id": ints(*range(3000)), "v": pa.array([b"%04d" % n * 700 for n in range(3000)])}))
    place = f"binlog.000001:{log.log.position}"
    log.write(({"id": ints(5)}, {"id": ints(9000), "v": pa.array(["five"])}),
              ({"id": ints(2999)}, {"v": pa.array(["v"])})).log.close()
    base = applier.replay(log.log.path, tmp_path / "base", stop=place, target_file_size="1M").snapshot
    for key in (5, 9000, [5, 9000], [5, 17, 100]):
        assert log.changes("id", key=key, base=base, complete=True) == [
            ("update_preimage", 5), ("update_postimage", 9000)]
    for limit in ("_FIRST_STEPS", "_MOST_STEPS"):
        monkeypatch.setattr(row_steps, limit, 1)
    batches = list(applier.changes(log.log.path, "d.t", base=base, complete=True))
    assert [batch["id"].to_pylist() for batch in batches] == [[5, 9000], [2999, 2999]]


@pytest.mark.parametrize("n", [1, 20])
def test_a_row_that_gets_another_key_is_followed(tmp_path, n, monkeypatch):
    """DEF-R2: as it was before, and as it is after, though the row with the other key is applied only then."""
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    log.write((None, {"id": ints(1, 2), "v": ints(10, 20)}), ({"id": ints(1)}, {"id": ints(1), "v": ints(11)}))
    log.write(({"id": ints(1)}, {"id": ints(3), "v": ints(12)}))
    log.write(({"id": ints(3)}, {"id": ints(1), "v": ints(13)}))
    walked, real = [], whole_rows.table_walks
    monkeypatch.setattr(whole_rows, "table_walks", lambda task, events: walked.append(task) or real(task, events))
    assert log.changes("id", "v", key=[1, *range(100, 100 + n)], complete=True) == [
        ("insert", 1, 10), ("update_preimage", 1, 10), ("update_postimage", 1, 11), ("update_preimage", 1, 11),
        ("update_postimage", 3, 12), ("update_preimage", 3, 12), ("update_postimage", 1, 13)]
    assert [task.n_units for task in walked] == ([2, 1] if n == 1 else [1])


def test_long_rows_come_some_at_a_time(tmp_path, monkeypatch):
    """Both images of an update are in one batch, however long they are."""
    log = Rows(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, v LONGBLOB)")
    data = pa.array([b"x" * 70_000] * 5, pa.binary())
    log.write((None, {"id": ints(*range(5)), "v": data}), ({"id": ints(*range(5)), "v": data},
                                                           {"id": ints(*range(5)), "v": data})).log.close()
    whole = applier.changes(log.log.path, "d.t").to_arrow()
    monkeypatch.setattr("applier.apply.output.image_reader.CHUNK_BYTES", 100_000)
    batches = list(applier.changes(log.log.path, "d.t", key=[0, 1, 2, 3, 4]))
    assert pa.Table.from_batches(batches).equals(whole) and len(batches) > 5
    assert all(batch["_change_type"][0].as_py() != "update_postimage" for batch in batches)


def test_on_the_command_line():
    [first] = applier.changes(ARCHIVE, "shop.orders").to_arrow().slice(0, 1).to_pylist()
    asked = ["changes", "--binlogs", str(ARCHIVE), "--table", "shop.orders", "--columns", "id"]
    told = CliRunner().invoke(app, [*asked, "--gtids", first["_gtid"]])
    assert told.exit_code == 0 and told.stdout.count(first["_gtid"]) == told.stdout.count("\n") > 0
    told = CliRunner().invoke(app, [*asked, "--key", "5", "--key", " 7 "])
    assert {json.loads(line)["key"]["id"] for line in told.stdout.splitlines()} == {5, 7}
    told = CliRunner().invoke(app, ["changes", "--binlogs", str(ARCHIVE), "--table", "shop.stock",
                                    "--key", '"OU00004", 3'])
    assert {tuple(json.loads(line)["key"].values()) for line in told.stdout.splitlines()} == {("OU00004", 3)}
    told = CliRunner().invoke(app, [*asked, "--start-datetime", "2999-01-01"])
    assert (told.exit_code, told.stdout) == (0, "")
