"""`applier.undo`: the file that takes transactions back, and what is refused.

That a file is right is shown by replaying it onto what the whole log leaves: the rows are then those of the same log
without the transactions.
"""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import applier
import applier.binlog
from applier import cli
from applier.binlog.archive.reader import file_events
from applier.engine.executor import ThisProcess
from applier.io.mapping import map_file
from applier.jobs.replay.job import replay_with
from applier.mysql.values import zero_dates
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.recorded.archives.demo_digest import ARCHIVE

pytestmark = pytest.mark.slow

SOURCE = "00000000-0000-4000-8000-000000000001"
NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
MISTAKE = "20810cc3-e548-11f1-a5e4-02fc00000001:1928"


class Log:
    """A log that is written by transactions, numbered from 1 on after the statements, a minute each."""

    def __init__(self, folder, *tables, flavour="mysql"):
        self.folder, self.path, self.n = folder, f"{folder}/binlog.000001", 0
        self.writer = applier.binlog.Writer(self.path, flavour=flavour, time=NOON)
        self.flavour, self.n_statements = flavour, 1 + len(tables)
        self.writer.query("CREATE DATABASE d")
        for table in tables:
            self.writer.query(table, "d")

    def transaction(self, *changes):
        """Changes are (verb, table, arguments …)."""
        self.n += 1
        with self.writer.transaction(NOON + timedelta(minutes=self.n)):
            for verb, table, *images in changes:
                getattr(self.writer, verb)(f"d.{table}", *images)

    def gtid(self, number):
        """The GTID of a transaction."""
        number += self.n_statements
        return f"{SOURCE}:{number}" if self.flavour == "mysql" else f"0-1-{number}"

    def undo(self, *numbers, name="undo.000001", **options):
        """Undo transactions, as events."""
        self.writer.close()
        options.setdefault("format", "binlog")
        options.setdefault("gtids", ",".join(map(self.gtid, numbers)) if numbers else None)
        return applier.undo(self.path, f"{self.folder}/{name}", **options)

    def undone(self, table="t"):
        """The rows of a table where the log and the undo end."""
        return undone(self.path, self.folder)[f"d.{table}"]


def undone_in(log, folder):
    """The rows of `t` after the undo, computed in a folder of its own."""
    folder.mkdir()
    (folder / "undo.000001").write_bytes((log.folder / "undo.000001").read_bytes())
    return undone(log.path, folder)["d.t"]


def undone(archive, folder):
    """The rows of all tables of an archive after its undo."""
    applier.replay(archive, f"{folder}/after")
    replay_with(ThisProcess(1), ReplayOptions((f"{folder}/undo.000001",), f"{folder}/undone", base=f"{folder}/after",
                                              start_position=("undo.000001", 4)))
    tables = applier.Snapshot(f"{folder}/undone").tables
    return {name: sorted(map(repr, tables[name].to_arrow().to_pylist())) for name in tables}


def rows(*found):
    return sorted(map(repr, found))


def test_rows_get_the_values_that_they_had(tmp_path):
    """UNDO-BACK. Whatever the images have: rows that were inserted go, others come back, and updates are taken back."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, n INT, s VARCHAR(9))")
    log.transaction(("insert", "t", {"id": [1, 2, 3, 4], "n": [10, 20, 30, 40], "s": ["a", "b", None, "d"]}))
    log.transaction(("update", "t", {"id": [1]}, {"n": [11]}), ("delete", "t", {"id": [3]}),
                    ("insert", "t", {"id": [5], "n": [50], "s": ["e"]}), ("update", "t", {"id": [1]}, {"n": [12]}))
    log.transaction(("update", "t", {"id": [4]}, {"n": [41]}), ("update", "t", {"id": [4]}, {"n": [40]}))
    found = log.undo(2, 3)
    [made] = found.tables
    assert (made.name, made.inserted, made.deleted, made.updated, made.same, made.rows_after) == ("d.t", 1, 1, 1, 1, 4)
    assert log.undone() == rows(*({"id": number, "n": 10 * number, "s": s}
                                  for number, s in ((1, "a"), (2, "b"), (3, None), (4, "d"))))


PROOF = ("Proof: read back as events and applied to the rows as the log leaves them, the undo of {} gives the rows as "
         "they were before, {}.")


def test_the_command_lists_what_others_have_changed(tmp_path, monkeypatch, capsys):
    """Twenty rows, and with -v all; and the trap of values that were computed from what is taken back."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)")
    many = list(range(1, 26))
    log.transaction(("insert", "t", {"id": many, "a": many, "b": many}))
    log.transaction(("update", "t", {"id": many}, {"a": [0] * 25}))
    log.transaction(("update", "t", {"id": many}, {"b": [0] * 25}))
    log.writer.close()
    monkeypatch.chdir(tmp_path)
    words = ["undo", "--binlogs", log.path, "--gtids", log.gtid(2), "--on-conflict", "columns"]
    line = "undone but for what was changed since: d.t id="
    assert cli.main([*words, "--output", "some.sql"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("some.sql takes back ") and log.gtid(2) in said.splitlines()[0]
    assert said.count(line) == 20 and "… and 5 more, -v lists all\nLook at these rows: " in said
    assert cli.main([*words, "--output", "all.sql", "-v"]) == 0
    said = capsys.readouterr().out
    assert said.count(line) == 25 and " more" not in said
    assert cli.main([*words[:-1], "force", "--output", "force.sql"]) == 0
    said = capsys.readouterr().out
    assert said.count("undone anyway: d.t id=") == 20 and "Look at" not in said


def test_rows_that_others_have_changed_are_named(tmp_path):
    """UNDO-CHAIN. By whom and when; nothing is written. What comes before, and other rows, are in nobody's way."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    log.transaction(("insert", "t", {"id": [1, 2, 3], "n": [10, 20, 30]}))
    log.transaction(("update", "t", {"id": [1, 2]}, {"n": [11, 21]}))
    log.transaction(("update", "t", {"id": [2, 3]}, {"n": [22, 32]}))
    with pytest.raises(applier.UndoRefused, match=r"others have changed rows since, .*: 1 rows, 1 in d.t;") as refused:
        log.undo(2)
    [conflict] = refused.value.conflicts
    assert str(conflict) == f"d.t id=2: changed since by {log.gtid(3)} at 2026-03-14 12:03:00Z"
    assert refused.value.exit_code == 1 and str(conflict) in str(refused.value)
    assert not (tmp_path / "undo.000001").exists()
    found = log.undo(2, on_conflict="skip")
    assert (found.tables[0].in_conflict, found.tables[0].updated, len(found.conflicts)) == (1, 1, 1)
    assert log.undone() == rows({"id": 1, "n": 10}, {"id": 2, "n": 22}, {"id": 3, "n": 32})
    assert log.undo(2, 3, name="both").tables[0].updated == 3


def test_keys_of_rows_are_listed_whole(tmp_path):
    """However long they are: two rows that differ at the end of a key are two rows."""
    log, keys = Log(tmp_path, "CREATE TABLE t (id VARCHAR(99) PRIMARY KEY, n INT)"), ["x" * 98 + end for end in "ab"]
    log.transaction(("insert", "t", {"id": keys, "n": [1, 2]}))
    log.transaction(("update", "t", {"id": keys}, {"n": [3, 4]}))
    with pytest.raises(applier.UndoRefused) as refused:
        log.undo(1)
    assert [dict(one.row)["id"] for one in refused.value.conflicts] == keys


def test_what_others_did_in_between_counts_too(tmp_path):
    """A row that a chosen transaction changed, then another one, and then a chosen one."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    for n in (1, 2, 3, 4):
        log.transaction(("insert", "t", {"id": [1], "n": [1]}) if n == 1 else ("update", "t", {"id": [1]}, {"n": [n]}))
    with pytest.raises(applier.UndoRefused, match=r"d.t id=1: changed since by .*:5"):
        log.undo(2, 4)


@pytest.mark.parametrize("unique", ["id", "u"])
def test_a_row_whose_key_another_one_has_does_not_come_back(tmp_path, unique):
    """UNDO-KEY: the primary key, or a unique one, as its collation compares it."""
    log = Log(tmp_path, "CREATE TABLE t (id VARCHAR(5) PRIMARY KEY, u VARCHAR(5) UNIQUE)")
    log.transaction(("insert", "t", {"id": ["a", "b"], "u": ["x", "y"]}))
    log.transaction(("delete", "t", {"id": ["a", "b"]}))
    log.transaction(("insert", "t", {"id": ["A" if unique == "id" else "c"], "u": ["z" if unique == "id" else "X"]}))
    what = "created again with the same PRIMARY since" if unique == "id" else "another row has its u now"
    with pytest.raises(applier.UndoRefused, match=rf"d.t id=a: {what} by .*:5 at"):
        log.undo(2)
    assert log.undo(2, on_conflict="skip").tables[0].inserted == 1


AGAIN = [("insert", "t", {"id": [1], "u": [9]}), ("delete", "t", {"id": [1]})]


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("chosen", "later", "words", "after"), [
    ([("delete", "t", {"id": [1]})], AGAIN, "not restored: d.t id=1: created again and deleted since", [1, 2]),
    ([("delete", "t", {"id": [1]})], [AGAIN], "not restored: d.t id=1: created again and deleted since", [1, 2]),
    ([("delete", "t", {"id": [1]})], [AGAIN[0], ("update", "t", {"id": [1]}, {"id": [7]})],
     "not restored: d.t id=1: another row had its PRIMARY since", [1, 2, 7]),
    ([("delete", "t", {"id": [1]})], [("insert", "t", {"id": [7], "u": [1]}), ("delete", "t", {"id": [7]})],
     "not restored: d.t id=1: another row had its u since", [1, 2]),
    ([("delete", "t", {"id": [1]})], AGAIN[:1], "not restored: d.t id=1: created again with the same PRIMARY since",
     None),
    ([("delete", "t", {"id": [1]})], ["TRUNCATE TABLE t"],
     "not restored: d.t id=1: its table or partition was emptied or dropped since", [1]),
    ([("update", "t", {"id": [1]}, {"id": [3]})], AGAIN, "left as it is: d.t id=1: another row had its PRIMARY since",
     [1, 2]),
    ([("delete", "t", {"id": [1]}), AGAIN[0]], AGAIN[1:], "not restored: d.t id=1: deleted since", [1, 2]),
    ([("insert", "t", {"id": [5], "u": [5]})], [("delete", "t", {"id": [5]})], "already gone: d.t id=5: deleted since",
     [1, 2]),
    ([("insert", "t", {"id": [5], "u": [5]})], [("delete", "t", {"id": [5]}), ("insert", "t", {"id": [5], "u": [5]})],
     "left as it is: d.t id=5: deleted, and created again with the same PRIMARY since", None),
    ([("update", "t", {"id": [1]}, {"u": [3]})], [("delete", "t", {"id": [1]})],
     "not restored: d.t id=1: deleted since", [1, 2]),
    ([("update", "t", {"id": [1]}, {"u": [3]})], [("update", "t", {"id": [1]}, {"id": [8]}),
                                                  ("update", "t", {"id": [8]}, {"id": [1]})],
     "left as it is: d.t id=1: changed since", [1, 2])])
def test_rows_that_others_created_again_and_deleted(tmp_path, capsys, flavour, chosen, later, words, after):
    """UNDO-CHAIN: a row is known by its key, also where none is left. Each mode says what becomes of the row, and who
    was the last to touch it, when; `force` alone brings it back, unless another row has its key."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE)", flavour=flavour)
    log.transaction(("insert", "t", {"id": [1, 2], "u": [1, 2]}))
    log.transaction(*chosen)
    for change in later:
        if isinstance(change, str):
            log.n += 1
            log.writer.query(change, "d")
        else:
            log.transaction(*(change if isinstance(change, list) else [change]))
    who = rf"{log.gtid(log.n)} at 2026-03-14 12:0\d:00Z"
    with pytest.raises(applier.UndoRefused, match=rf"{words.partition(': ')[2]} by {who}"):
        log.undo(2)
    for mode in ("skip", "columns"):
        assert cli.main(["undo", "--binlogs", log.path, "--gtids", log.gtid(2), "--on-conflict", mode, "--output",
                         f"{tmp_path}/{mode}"]) == 0
        shown = capsys.readouterr().out
        assert f"{words} by {log.gtid(log.n)} at 2026-03-14 12:0" in shown and "undone" not in shown.split("\n\n")[0]
    found = log.undo(2, on_conflict="force")
    if after is None:
        assert [f"{row.outcome}: {row}".startswith(words) for row in found.conflicts] == [True]
    else:
        assert not found.conflicts
        assert {row.outcome for row in found.undone_anyway} <= {"undone anyway", "already gone"}
        assert log.undone() == rows(*({"id": n, "u": {7: 9}.get(n, n)} for n in after))


def test_equal_rows_of_a_table_without_a_key_that_others_deleted_since(tmp_path):
    """UNDO-CHAIN: they would have deleted the row, too. Others that were only inserted are in nobody's way."""
    log = Log(tmp_path, "CREATE TABLE t (a INT, b VARCHAR(5))")
    log.transaction(("insert", "t", {"a": [1, 1, 2], "b": ["x", None, "y"]}))
    log.transaction(("delete", "t", {"a": [1, 1], "b": ["x", None]}))
    log.transaction(("insert", "t", {"a": [1, 1], "b": ["x", None]}))
    log.transaction(("delete", "t", {"a": [1], "b": [None]}))
    with pytest.raises(applier.UndoRefused, match=r"1 rows.*\n  d.t a=1, b=NULL: an equal row .* by \S+:6 at"):
        log.undo(2)
    log.undo(2, on_conflict="skip")
    assert log.undone() == rows({"a": 1, "b": "x"}, {"a": 1, "b": "x"}, {"a": 2, "b": "y"})


def test_rows_of_others_that_had_the_key_before(tmp_path):
    """UNDO-CHAIN: only what others did since counts; a NULL is no key."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE)")
    log.transaction(("insert", "t", {"id": [1], "u": [7]}))
    log.transaction(("delete", "t", {"id": [1]}))
    log.transaction(("insert", "t", {"id": [1, 2], "u": [7, None]}))
    log.transaction(("delete", "t", {"id": [1, 2]}))
    log.transaction(("insert", "t", {"id": [3], "u": [None]}))
    log.transaction(("delete", "t", {"id": [3]}))
    assert log.undo(4).tables[0].inserted == 2
    assert log.undone() == rows({"id": 1, "u": 7}, {"id": 2, "u": None})


@pytest.mark.by_turns("flavour")
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("action", "later", "words", "skipped", "columns", "force"), [
    ("SET NULL", [("delete", "p", {"id": [1]})], "was deleted since (ON DELETE SET NULL)", "not restored",
     {"id": 10, "p": None, "n": 5}, None),
    ("SET NULL", [("update", "p", {"id": [1]}, {"id": [9]})], "got another key since (ON UPDATE SET NULL)",
     "not restored", {"id": 10, "p": None, "n": 5}, None),
    ("SET NULL", [("delete", "p", {"id": [1]}), ("insert", "p", {"id": [1]})],
     "was deleted since (ON DELETE SET NULL)", "not restored", {"id": 10, "p": None, "n": 5},
     {"id": 10, "p": 1, "n": 5}),
    ("CASCADE", [("delete", "p", {"id": [1]})], "was deleted since (ON DELETE CASCADE)", "not restored", {}, {}),
    ("CASCADE", [("delete", "p", {"id": [1]}), ("insert", "p", {"id": [1]})], "was deleted since (ON DELETE CASCADE)",
     "not restored", {}, {"id": 10, "p": 1, "n": 5}),
    ("CASCADE", [("update", "p", {"id": [1]}, {"id": [8]}), ("update", "p", {"id": [8]}, {"id": [9]})],
     "got another key since (ON UPDATE CASCADE)", "not restored", {"id": 10, "p": 9, "n": 5}, None),
    ("RESTRICT", [("delete", "p", {"id": [1]})], "was deleted since", "not restored", {}, {}),
    ("RESTRICT", [("update", "p", {"id": [1]}, {"id": [9]})], "got another key since", "not restored", {}, {}),
    ("RESTRICT", [("delete", "p", {"id": [1]}), ("insert", "p", {"id": [1]})], None, None, {"id": 10, "p": 1, "n": 5},
     None)])
def test_a_row_follows_what_became_of_its_parent_row(tmp_path, flavour, action, later, words, skipped, columns, force):
    """UNDO-REF: its foreign key would have changed or deleted it, had it been there."""
    log = Log(tmp_path, "CREATE TABLE p (id INT PRIMARY KEY)",
              "CREATE TABLE t (id INT PRIMARY KEY, p INT, n INT, FOREIGN KEY (p) REFERENCES p (id) "
              f"ON DELETE {action} ON UPDATE {action})", flavour=flavour)
    log.transaction(("insert", "p", {"id": [1, 2]}), ("insert", "t", {"id": [10, 11], "p": [1, 2], "n": [5, 6]}))
    log.transaction(("delete", "t", {"id": [10]}))
    for change in later:
        log.transaction(change)
    stays = {"id": 11, "p": 2, "n": 6}
    if words is None:
        assert log.undo(2).tables[0].partly == 0 and log.undone() == rows(columns, stays)
        return
    with pytest.raises(applier.UndoRefused) as refused:
        log.undo(2)
    assert f"  d.t id=10: its parent row in d.p {words} by {log.gtid(3)} at 2026-03-14 12:03:00Z" in str(refused.value)
    for mode, expected in (("skip", {}), ("columns", columns), ("force", columns if force is None else force)):
        found = log.undo(2, name=f"{mode}.000001", on_conflict=mode)
        (tmp_path / "undo.000001").unlink(missing_ok=True)
        (tmp_path / f"{mode}.000001").rename(tmp_path / "undo.000001")
        assert undone_in(log, tmp_path / mode) == rows(*[expected] * bool(expected), stays)
        [row] = [*found.conflicts, *found.undone_anyway]
        assert row.outcome == ("not restored" if not expected else "undone anyway" if expected["p"] == 1 else
                               "undone but for what was changed since")


@pytest.mark.parametrize(("tables", "rows_before", "chosen", "later", "expected"), [
    (["CREATE TABLE t (id INT PRIMARY KEY, m INT, FOREIGN KEY (m) REFERENCES t (id) ON DELETE SET NULL)"],
     [("insert", "t", {"id": [1, 2, 3], "m": [None, 1, 2]})], [("delete", "t", {"id": [3]})],
     [("delete", "t", {"id": [2]})], [{"id": 1, "m": None}, {"id": 3, "m": None}]),
    (["CREATE TABLE p (a VARCHAR(9) PRIMARY KEY)", "CREATE TABLE t (a VARCHAR(9), n INT, PRIMARY KEY (a, n), "
      "FOREIGN KEY (a) REFERENCES p (a) ON UPDATE CASCADE)"],
     [("insert", "p", {"a": ["x"]}), ("insert", "t", {"a": ["X", "x"], "n": [1, 2]})],
     [("delete", "t", {"a": ["X"], "n": [1]})], [("update", "p", {"a": ["x"]}, {"a": ["z"]})],
     [{"a": "z", "n": 1}, {"a": "z", "n": 2}]),
    (["CREATE TABLE p (a INT, b INT, PRIMARY KEY (a, b))", "CREATE TABLE t (id INT PRIMARY KEY, b INT, a INT, "
      "FOREIGN KEY (a, b) REFERENCES p (a, b) ON DELETE SET NULL ON UPDATE CASCADE)"],
     [("insert", "p", {"a": [1, 1], "b": [1, 2]}), ("insert", "t", {"id": [1, 2, 3], "b": [1, 2, None],
                                                                    "a": [1, 1, 1]})],
     [("delete", "t", {"id": [1, 2, 3]})],
     [("delete", "p", {"a": [1], "b": [1]}), ("update", "p", {"a": [1], "b": [2]}, {"a": [7], "b": [8]})],
     [{"id": 1, "b": None, "a": None}, {"id": 2, "b": 8, "a": 7}, {"id": 3, "b": None, "a": 1}]),
    (["CREATE TABLE p (id INT PRIMARY KEY)", "CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES "
      "p (id) ON DELETE CASCADE)", "CREATE TABLE t (id INT PRIMARY KEY, c INT, FOREIGN KEY (c) REFERENCES c (id) "
      "ON DELETE SET NULL)"],
     [("insert", "p", {"id": [1]}), ("insert", "c", {"id": [1], "p": [1]}), ("insert", "t", {"id": [1], "c": [1]})],
     [("delete", "t", {"id": [1]}), ("delete", "c", {"id": [1]})], [("delete", "p", {"id": [1]})],
     [{"id": 1, "c": None}]),
    (["CREATE TABLE p (id INT PRIMARY KEY)", "CREATE TABLE t (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES "
      "p (id) ON DELETE SET NULL ON UPDATE CASCADE)"],
     [("insert", "p", {"id": [1, 2]}), ("insert", "t", {"id": [1, 2], "p": [1, 2]})],
     [("delete", "t", {"id": [1, 2]})],
     [("delete", "p", {"id": [1]}), ("update", "p", {"id": [2]}, {"id": [9]}), ("insert", "p", {"id": [1]}),
      ("delete", "p", {"id": [1]})],
     [{"id": 1, "p": None}, {"id": 2, "p": 9}])])
def test_keys_that_rows_follow(tmp_path, tables, rows_before, chosen, later, expected):
    """UNDO-REF: of several columns, within a primary key, in the same table, and over a row that does not come back."""
    log = Log(tmp_path, *tables)
    for transaction in (rows_before, chosen, *([change] for change in later)):
        log.transaction(*transaction)
    for mode in ("columns", "force"):
        (tmp_path / "undo.000001").unlink(missing_ok=True)
        assert log.undo(2, on_conflict=mode).proof[0].startswith("Proof: ")
        assert undone_in(log, tmp_path / mode) == rows(*expected)


def test_a_table_that_others_made_and_dropped_again_does_not_come_back(tmp_path):
    """Also where it has no rows that could be listed."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY)")
    for statement in ("DROP TABLE t", "CREATE TABLE t (id INT PRIMARY KEY)", "DROP TABLE t"):
        log.n += 1
        log.writer.query(statement, "d")
    with pytest.raises(applier.SchemaError, match=r"the table that the undo restores was dropped again later"):
        log.undo(1)
    assert log.undo(1, 3).tables[0].recreated


def test_columns_that_nobody_changed_since(tmp_path):
    """UNDO-BACK: with `columns` these alone are undone. Rows that are gone, or were made since, stay as they are, and
    so do those with another key."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)")
    log.transaction(("insert", "t", {"id": [1, 2, 3, 4], "a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}))
    log.transaction(("update", "t", {"id": [1, 2, 3, 4]}, {"a": [0] * 4, "b": [0] * 4}),
                    ("insert", "t", {"id": [5], "a": [5], "b": [5]}))
    log.transaction(("update", "t", {"id": [1, 5]}, {"b": [7, 7]}), ("delete", "t", {"id": [3]}),
                    ("update", "t", {"id": [4]}, {"id": [9]}))
    log.transaction(("update", "t", {"id": [1]}, {"b": [8]}))
    found = log.undo(2, on_conflict="columns")
    [made] = found.tables
    assert (made.updated, made.partly, made.in_conflict) == (2, 1, 3)
    assert [str(row) for row in found.undone_anyway] == [
        f"d.t id=1: changed since by {log.gtid(4)} at 2026-03-14 12:04:00Z"]
    assert found.proof == (PROOF.format("2 rows", "but in 1 of them for the columns that others have changed since"),)
    assert log.undone() == rows(*({"id": n, "a": a, "b": b} for n, a, b in (
        (1, 1, 8), (2, 2, 2), (9, 0, 0), (5, 5, 7))))


def test_columns_that_others_changed_in_between(tmp_path):
    """UNDO-BACK: columns that the transactions changed again get back what others gave them; they do not stay."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(9), c INT)")
    log.transaction(("insert", "t", {"id": [1, 2, 3], "a": [1] * 3, "b": ["one"] * 3, "c": [1] * 3}))
    log.transaction(("update", "t", {"id": [1, 2, 3]}, {"a": [0] * 3, "b": [""] * 3}))
    log.transaction(("update", "t", {"id": [1]}, {"a": [6]}), ("update", "t", {"id": [2]}, {"b": [None]}))
    log.transaction(("update", "t", {"id": [1]}, {"a": [7]}))
    log.transaction(("update", "t", {"id": [1, 2, 3]}, {"a": [0] * 3, "b": ["two"] * 3, "c": [2] * 3}))
    log.transaction(("update", "t", {"id": [3]}, {"c": [3]}))
    found = log.undo(2, 5, on_conflict="columns")
    assert (found.tables[0].updated, found.tables[0].partly) == (3, 3)
    assert log.undone() == rows(*({"id": n, "a": a, "b": b, "c": c} for n, a, b, c in (
        (1, 7, "one", 1), (2, 1, None, 1), (3, 1, "one", 3))))


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("chosen_replaces", [False, True])
@pytest.mark.parametrize("others_replace", [False, True])
def test_rows_that_were_replaced_are_changed_rows(tmp_path, chosen_replaces, others_replace, flavour):
    """UNDO-REPLACE: REPLACE deletes a row and inserts it. The columns that it changed are those that differ."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT UNIQUE)", flavour=flavour)

    def changed(values, column, is_replaced):
        now = values | column
        log.transaction(*([("delete", "t", values), ("insert", "t", now)] if is_replaced else
                          [("update", "t", values, now)]))
        return now

    values = {"id": [1, 2], "a": [10, 20], "b": [1, 2], "c": [5, 6]}
    log.transaction(("insert", "t", values))
    values = changed(values, {"a": [0, 0]}, chosen_replaces)
    changed({name: both[:1] for name, both in values.items()}, {"b": [7]}, others_replace)
    with pytest.raises(applier.UndoRefused, match=rf"d.t id=1: changed since by {log.gtid(3)} at 2026-03-14 12:03"):
        log.undo(2)
    [table] = log.undo(2, on_conflict="columns").tables
    assert (table.updated, table.inserted, table.deleted, table.partly, table.in_conflict) == (2, 0, 0, 1, 0)
    assert log.undone() == rows({"id": 1, "a": 10, "b": 7, "c": 5}, {"id": 2, "a": 20, "b": 2, "c": 6})


def test_as_if_nobody_had_changed_anything_since(tmp_path):
    """With `force`; but a key that another row has stays its own."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, a INT)")
    log.transaction(("insert", "t", {"id": [1, 2, 3], "a": [1, 2, 3]}))
    log.transaction(("update", "t", {"id": [1, 2]}, {"a": [0, 0]}), ("delete", "t", {"id": [3]}),
                    ("insert", "t", {"id": [5], "a": [5]}))
    log.transaction(("update", "t", {"id": [1, 5]}, {"a": [7, 7]}), ("delete", "t", {"id": [2]}),
                    ("insert", "t", {"id": [3], "a": [33]}))
    found = log.undo(2, on_conflict="force")
    [made] = found.tables
    assert (made.inserted, made.deleted, made.updated, made.partly, made.in_conflict) == (1, 1, 1, 3, 1)
    assert [dict(row.row)["id"] for row in found.undone_anyway] == ["1", "2", "5"]
    assert found.proof == (PROOF.format("3 rows", "in all columns, so that in 3 of them what others have changed since "
                                                  "is lost"),)
    assert log.undone() == rows(*({"id": n, "a": a} for n, a in ((1, 1), (2, 2), (3, 33))))


def test_rows_that_others_refer_to_by_now_do_not_go(tmp_path):
    """UNDO-REF. Nor do rows come back whose parents others have deleted. Tables are looked at that nothing chosen
    changed."""
    log = Log(tmp_path, "CREATE TABLE p (id INT PRIMARY KEY)",
              "CREATE TABLE t (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id))")
    log.transaction(("insert", "p", {"id": [1]}), ("insert", "t", {"id": [1], "p": [1]}))
    log.transaction(("insert", "p", {"id": [2, 3]}))
    log.transaction(("delete", "t", {"id": [1]}))
    log.transaction(("insert", "t", {"id": [7, 8], "p": [2, None]}))
    log.transaction(("delete", "p", {"id": [1]}))
    with pytest.raises(applier.UndoRefused, match=r"d.p id=2: rows of d.t refer to it now by \S+:7 at"):
        log.undo(2)
    with pytest.raises(applier.UndoRefused, match=r"d.t id=1: its parent row in d.p was deleted since by \S+:8 at"):
        log.undo(3)
    assert log.undo(2, on_conflict="skip").tables[0].deleted == 1
    assert sum(table.rows for table in log.undo(3, 5, name="both").tables) == 2


def test_keys_that_were_exchanged(tmp_path):
    """No row is in another one's way while they change back."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE)")
    log.transaction(("insert", "t", {"id": [1, 2, 3], "u": [1, 2, 3]}))
    log.transaction(("update", "t", {"id": [3, 2, 1]}, {"id": [4, 3, 2]}),
                    ("update", "t", {"id": [2, 3, 4, 2]}, {"u": [9, 1, 2, 3]}))
    log.undo(2)
    assert log.undone() == rows(*({"id": n, "u": n} for n in (1, 2, 3)))


def test_tables_without_a_key(tmp_path):
    """Equal rows are as many as they were."""
    log = Log(tmp_path, "CREATE TABLE t (a INT, b VARCHAR(5))")
    log.transaction(("insert", "t", {"a": [1, 1, 1, 2, None], "b": ["x", "x", "x", "y", None]}))
    log.transaction(("delete", "t", {"a": [1, None], "b": ["x", None]}),
                    ("update", "t", {"a": [1], "b": ["x"]}, {"a": [2], "b": ["y"]}),
                    ("insert", "t", {"a": [7], "b": ["new"]}))
    log.undo(2)
    assert log.undone() == rows(*[{"a": 1, "b": "x"}] * 3, {"a": 2, "b": "y"}, {"a": None, "b": None})


@pytest.mark.parametrize("action", ["CASCADE", "SET NULL"])
def test_rows_that_foreign_keys_changed_below_the_log_come_back(tmp_path, action):
    """AP-FK: MariaDB logs the parent's row alone. While they come back foreign keys do nothing."""
    log = Log(tmp_path, "CREATE TABLE p (id INT PRIMARY KEY)", "CREATE TABLE t (id INT PRIMARY KEY, p INT, "
              f"FOREIGN KEY (p) REFERENCES p (id) ON DELETE {action} ON UPDATE CASCADE)", flavour="mariadb")
    log.transaction(("insert", "p", {"id": [1, 2, 3]}), ("insert", "t", {"id": [1, 2, 3, 4], "p": [1, 1, 2, 3]}))
    log.transaction(("delete", "p", {"id": [1]}), ("update", "p", {"id": [2]}, {"id": [9]}))
    found = log.undo(2)
    assert not found.foreign_key_checks
    assert [one.name for one in found.tables] == ["d.p", "d.t"]
    assert log.undone() == rows(*({"id": n, "p": p} for n, p in ((1, 1), (2, 1), (3, 2), (4, 3))))
    assert found.checks == (
        ("SELECT COUNT(*) FROM `d`.`p`", 3), ("SELECT COUNT(*) FROM `d`.`t`", 4),
        ("SELECT COUNT(*) FROM `d`.`t` AS c WHERE c.`p` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM `d`.`p` AS p WHERE "
         "p.`id` = c.`p`)", 0))


def test_foreign_keys_are_checked_where_they_do_nothing(tmp_path):
    """Children go first, and parents come back first."""
    log = Log(tmp_path, "CREATE TABLE z (id INT PRIMARY KEY)",
              "CREATE TABLE a (id INT PRIMARY KEY, z INT, FOREIGN KEY (z) REFERENCES z (id))")
    log.transaction(("insert", "z", {"id": [1, 2]}), ("insert", "a", {"id": [1, 2], "z": [1, 2]}))
    log.transaction(("delete", "a", {"id": [1]}), ("delete", "z", {"id": [1]}))
    log.transaction(("insert", "z", {"id": [3]}), ("insert", "a", {"id": [3], "z": [3]}))
    found = log.undo(2, 3, format="sql")
    assert found.foreign_key_checks
    text = (tmp_path / "undo.000001").read_text()
    assert "SET foreign_key_checks = 1" in text
    places = [text.index(start) for start in ("DELETE FROM `d`.`a`", "DELETE FROM `d`.`z`", "INSERT INTO `d`.`z`",
                                              "INSERT INTO `d`.`a`")]
    assert places == sorted(places)


def test_children_refer_to_parents_when_these_are_there(tmp_path):
    """UNDO-REF: a parent comes back before its children refer to it again; where children stop referring to one that
    goes, foreign keys are not checked, as it goes first."""
    log = Log(tmp_path, "CREATE TABLE p (id INT PRIMARY KEY)",
              "CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id))")
    log.transaction(("insert", "p", {"id": [1, 2]}), ("insert", "c", {"id": [1], "p": [1]}))
    log.transaction(("update", "c", {"id": [1]}, {"p": [None]}), ("delete", "p", {"id": [1]}))
    log.transaction(("insert", "p", {"id": [3]}), ("update", "c", {"id": [1]}, {"p": [3]}))
    found = log.undo(2, on_conflict="force", format="sql")
    text = (tmp_path / "undo.000001").read_text()
    assert found.foreign_key_checks and text.index("INSERT INTO `d`.`p`") < text.index("UPDATE `d`.`c`")
    assert not log.undo(3, name="again").foreign_key_checks


def test_invalid_dates_and_others_are_written_as_they_were(tmp_path, capsys):
    """0000-00-00 is no NULL, neither in statements nor in events."""
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        sql = "CREATE TABLE t (id INT PRIMARY KEY, a DATE, b DATETIME(3), c TIMESTAMP NULL, f FLOAT, x BIT(9))"
        log.query(sql, "d")
        t = parse_statement(sql, default_database="d", flavour="mysql")[0].definition
        day, micros = zero_dates.ZERO_DAY, zero_dates.ZERO_DAY * zero_dates.DAY
        invalid = zero_dates.number(2024, 2, 31)
        row = {"id": pa.array([1], pa.int32()), "a": pa.array([invalid], pa.int32()).cast(pa.date32()),
               "b": pa.array([day * zero_dates.DAY + 1000], pa.int64()).view(pa.timestamp("us")),
               "c": pa.array([micros], pa.int64()).view(pa.timestamp("us", "UTC")), "f": pa.array([0.1], pa.float32()),
               "x": pa.array([300], pa.uint64())}
        with log.transaction():
            log.rows(RowChanges(t, after=row))
        with log.transaction():
            log.rows(RowChanges(t, before={"id": row["id"]}))
    for form in ("sql", "binlog"):
        applier.undo(log.path, tmp_path / form, gtids=f"{SOURCE}:4", format=form)
    values = "(1,'2024-02-31','0000-00-00 00:00:00.001000','0000-00-00 00:00:00.000000','0.1',300);"
    assert values in (tmp_path / "sql").read_text()
    assert cli.main(["show", str(tmp_path / "binlog")]) == 0
    shown = capsys.readouterr().out
    for value in ("2='2024:02:31'", "3='0000-00-00 00:00:00.001'", "4=0", "5=0.1"):
        assert f"###   @{value}" in shown


def test_parts_of_the_log(tmp_path):
    """By positions, times and tables; `until` is where the server stands."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY)", "CREATE TABLE s (id INT PRIMARY KEY)")
    ends = []
    for number in (1, 2, 3):
        log.transaction(("insert", "t", {"id": [number]}), ("insert", "s", {"id": [number]}))
        ends.append(("binlog.000001", log.writer.position[1]))
    log.transaction(("delete", "t", {"id": [1, 2, 3]}))

    def deleted(name, **options):
        return {one.name: one.deleted for one in log.undo(name=name, gtids=None, **options).tables}

    assert deleted("a", start=ends[0], stop=ends[2], tables="d.s") == {"d.s": 2}
    assert deleted("b", start=NOON + timedelta(minutes=2), stop=NOON + timedelta(minutes=3), until=ends[2]) == {
        "d.s": 1, "d.t": 1}
    assert deleted("c", start=ends[1], stop=ends[2], ignore_tables="d.s", until=ends[2]) == {"d.t": 1}
    with pytest.raises(applier.UndoRefused):
        deleted("d", start=ends[0], stop=ends[2])


def test_rows_for_which_an_expression_is_true(tmp_path):
    """Of what they were before, or are after; what is done to others stays, and is in nobody's way."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(9), n INT)")
    log.transaction(("insert", "t", {"id": [1, 2, 3, 4], "s": ["a", "b", "A", None], "n": [1, 2, 3, 4]}))
    log.transaction(("update", "t", {"id": [1, 2, 3, 4]}, {"n": [0, 0, 0, 5]}),
                    ("insert", "t", {"id": [9], "s": ["a"], "n": [9]}))
    log.transaction(("update", "t", {"id": [2]}, {"n": [7]}))
    assert log.undo(2, name="x", where="N = 5").tables[0].updated == 1
    assert log.undo(2, name="y", where="s = 'a' AND n BETWEEN 1 AND 2").tables[0].updated == 1
    [made] = log.undo(2, where="s = 'a'").tables
    assert (made.updated, made.deleted, made.in_conflict) == (2, 1, 0)
    assert log.undone() == rows(*({"id": n, "s": s, "n": was} for n, s, was in (
        (1, "a", 1), (2, "b", 7), (3, "A", 3), (4, None, 5))))
    for wrong in ("nothing = 1", "s = 'a') OR (1", "SLEEP(9)"):
        with pytest.raises(applier.UsageError, match="cannot evaluate `where`"):
            log.undo(2, name="z", where=wrong)


def test_other_statements_are_not_taken_back(tmp_path):
    """Neither those that are chosen, nor rows that were others before a statement: the place to go back to is named."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY)")
    log.transaction(("insert", "t", {"id": [1]}))
    before = log.writer.position[1]
    log.writer.query("ALTER TABLE t ADD n INT", "d")
    log.transaction(("insert", "t", {"id": [2], "n": [2]}))
    with pytest.raises(applier.SchemaError, match=rf"cannot be undone.*`stop=\"binlog.000001:{before}\"`;"):
        log.undo(2)
    with pytest.raises(applier.SchemaError, match="a later statement changed the table"):
        log.undo(1)
    assert log.undo(3).tables[0].deleted == 1


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("statement", ["TRUNCATE TABLE t", "DROP TABLE t", "DROP DATABASE d"])
def test_rows_of_a_table_that_was_emptied_or_dropped_come_back(tmp_path, statement, flavour):
    """And the table, if it is not there. What was changed before is undone with it, what was written since stays."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(5) CHARACTER SET latin1)", flavour=flavour)
    log.transaction(("insert", "t", {"id": [1, 2, 3], "s": ["a", "b", "é"]}))
    log.transaction(("update", "t", {"id": [2]}, {"s": ["x"]}), ("delete", "t", {"id": [1]}))
    log.writer.query(statement, "d")
    kept = [] if statement != "TRUNCATE TABLE t" else [{"id": 9, "s": None}]
    if kept:
        log.transaction(("insert", "t", {"id": [9], "s": [None]}))
    [made] = log.undo(2, 3).tables
    assert (made.inserted, made.recreated, made.rows_after) == (3, not kept, 3 + len(kept))
    assert log.undone() == rows(*({"id": n, "s": s} for n, s in ((1, "a"), (2, "b"), (3, "é"))), *kept)
    log.undo(3, name="sql", format="sql")
    text = (tmp_path / "sql").read_text()
    assert ("CREATE TABLE `d`.`t`" in text) is not bool(kept) and text.count("INSERT INTO") == 2


def test_whoever_emptied_a_table_since_has_touched_its_rows(tmp_path):
    """A TRUNCATE or DROP by others is in the way of what was changed before, as each other change is."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY)")
    log.transaction(("insert", "t", {"id": [1, 2]}))
    log.transaction(("delete", "t", {"id": [1]}), ("insert", "t", {"id": [3]}))
    log.writer.query("TRUNCATE TABLE t", "d")
    log.transaction(("insert", "t", {"id": [2]}))
    with pytest.raises(applier.UndoRefused, match=r"d.t id=3: deleted since by \S+:5 at"):
        log.undo(2)
    with pytest.raises(applier.UndoRefused, match=r"d.t id=2: created again with the same PRIMARY since by \S+:6 at"):
        log.undo(3)
    with pytest.raises(applier.UndoRefused, match=r"d.t id=1: its table .* emptied or dropped since by \S+:5 at"):
        log.undo(2)
    assert log.undo(3, 4).tables[0].rows_after == 2


def test_rows_of_a_table_that_others_emptied_again_do_not_come_back(tmp_path):
    """Also where nothing was in it in between, or rows of several versions would be."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY)")
    log.transaction(("insert", "t", {"id": [1, 2]}))
    for _ in range(2):
        log.n += 1
        log.writer.query("TRUNCATE TABLE t", "d")
    with pytest.raises(applier.UndoRefused, match=r"d.t id=1: its table .* emptied or dropped since by \S+:5 at"):
        log.undo(2)
    assert log.undo(2, 3, name="both").tables[0].rows_after == 2


@pytest.mark.parametrize("statements", [("DROP TABLE t", "CREATE TABLE t (s CHAR(3), id INT PRIMARY KEY)"),
                                        ("TRUNCATE TABLE t", "ALTER TABLE t ADD n INT")])
@pytest.mark.parametrize("is_empty", [False, True])
def test_rows_of_a_table_that_is_another_one_now_do_not_come_back(tmp_path, statements, is_empty):
    """A TRUNCATE or DROP took them, and a statement made or altered the table since; nothing is missed without rows."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY)")
    log.transaction(("insert", "t", {"id": [1, 2]}))
    log.transaction(("delete", "t", {"id": [1, 2] if is_empty else [1]}))
    for statement in statements:
        log.writer.query(statement, "d")
    if is_empty:
        assert not any(one.inserted for one in log.undo(3).tables) and log.undone() == []
    else:
        with pytest.raises(applier.SchemaError, match="a later statement changed the table"):
            log.undo(3)


def test_a_table_comes_back_without_rows(tmp_path):
    """It is made again where a chosen statement dropped it, whatever it had."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY)", "CREATE TABLE s (id INT PRIMARY KEY)")
    log.n += 1
    log.writer.query("DROP TABLE t", "d")
    [made] = log.undo(1).tables
    assert (made.name, made.recreated, made.rows_after) == ("d.t", True, 0) and log.undone() == []


def test_what_there_is_not_is_said(tmp_path):
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY)")
    log.transaction(("insert", "t", {"id": [1]}))
    with pytest.raises(applier.UsageError, match="the log contains none of the transactions"):
        log.undo(7)
    assert log.undo(1, 8, 9, name="some").notes == ("2 of the GTIDs to undo are not in this part of the log",)
    with pytest.raises(applier.UsageError, match="no transactions to undo are selected"):
        log.undo()
    with pytest.raises(applier.UsageError, match=r"the log has no file binlog.000009"):
        log.undo(start="binlog.000009:4")
    (tmp_path / "there").write_text("mine")
    with pytest.raises(applier.UsageError, match="the output already exists"):
        log.undo(1, name="there")
    assert [path.name for path in tmp_path.iterdir() if "undo" in path.name] == []


def test_statements_guard_themselves(tmp_path):
    """UNDO-GUARD: each finds its row by all values, byte for byte, and is followed by one that fails if it did not."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(9), b VARBINARY(5), d DECIMAL(5,2), "
                        "g INT AS (id + 1), j JSON)")
    log.transaction(("insert", "t", {"id": [1], "s": ["it's"], "b": [b"\0\xff"], "d": [1.5], "g": [2],
                                     "j": ['{"a": [1]}']}))
    log.transaction(("update", "t", {"id": [1]}, {"s": [None], "d": [2]}))
    log.undo(2, format="sql")
    lines = (tmp_path / "undo.000001").read_text().splitlines()
    [place] = [number for number, line in enumerate(lines) if line.startswith("UPDATE")]
    assert lines[place] == (
        r"UPDATE `d`.`t` SET `s` = 'it''s', `d` = '1.50' WHERE `id` = 1 AND `id` <=> 1 AND HEX(CONVERT(`s` USING "
        r"utf8mb4)) <=> HEX(NULL) AND HEX(`b`) <=> HEX(x'00FF') AND `d` <=> 2.00 AND HEX(CONVERT(`j` USING utf8mb4)) "
        r"""<=> HEX('{"a": [1]}');""")
    assert lines[place + 1] == "SET @rows = @rows + (~0 + (ROW_COUNT() <> 1) = ~0);"
    [guard] = [line for line in lines if line.startswith("SET @rows = ~0 + (SELECT COUNT(*) <> 0 FROM ")]
    assert guard.endswith(" + @guard0;") and lines.index("SET @rows = NULL;") < lines.index(guard)
    assert "SET @end = IF(@rows = 1, 'COMMIT'," in lines[-4] and "START TRANSACTION;" in lines


def test_the_command_line_says_what_is_in_the_way(tmp_path, capsys):
    """Exit code 1, with the rows; 2 where the part of the log is not clear."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    log.transaction(("insert", "t", {"id": list(range(30)), "n": [0] * 30}))
    log.transaction(("update", "t", {"id": list(range(30))}, {"n": [1] * 30}))
    log.writer.close()
    words = ["undo", "--binlogs", log.path, "--output", f"{tmp_path}/undo.sql"]
    assert cli.main([*words, "--gtids", log.gtid(1)]) == 1
    shown = capsys.readouterr().err
    assert "d.t id=0: changed since" in shown and "… and 10 more" in shown and "30 rows, 30 in d.t" in shown
    assert cli.main([*words, "--start-position", "binlog.000001:4", "--start-datetime", "2026-03-14"]) == 2
    assert "more than one place to start" in capsys.readouterr().err
    assert cli.main([*words, "--gtids", log.gtid(1), "--on-conflict", "skip"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("left as it is: d.t id=") == 20 and "… and 10 more, -v lists all" in shown


def test_the_mistake_in_the_demo_is_undone(tmp_path, capsys):
    """Every price is what it was, and what was sold since stays."""
    assert cli.main(["undo", "--binlogs", str(ARCHIVE), "--gtid", MISTAKE, "--output", f"{tmp_path}/undo.000001",
                     "--format", "binlog"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert ["shop.products", "0", "0", "140", "0", "0", "0"] in [line.split() for line in shown]
    assert "takes back 1 transaction" in shown[0]
    made = undone(str(ARCHIVE), tmp_path)
    after = applier.Snapshot(tmp_path / "after").tables
    before = applier.replay(ARCHIVE, tmp_path / "before", stop=datetime(2026, 3, 14, 10, 30, tzinfo=UTC)).snapshot
    assert made.pop("shop.products") == rows(*before.tables["shop.products"].to_arrow().to_pylist())
    assert made == {name: rows(*after[name].to_arrow().to_pylist()) for name in after if name != "shop.products"}


def test_a_table_that_was_dropped_since_is_not_counted(tmp_path):
    """Of a transaction with another table's rows: nothing is to be done in it, and no check names it."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY)", "CREATE TABLE s (id INT PRIMARY KEY)")
    log.transaction(("insert", "t", {"id": [1]}), ("delete", "t", {"id": [1]}), ("insert", "s", {"id": [2]}))
    log.writer.query("DROP TABLE t", "d")
    found = log.undo(1, format="sql")
    assert {one.name: one.rows_after for one in found.tables} == {"d.t": None, "d.s": 0}
    assert not any("`t`" in check for check, _ in found.checks)


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_events_come_behind_probes_for_the_rows_that_they_change(tmp_path, flavour):
    """Rows that go or change are looked for by all values, some hundred at a time, within the transaction; no row that
    comes back, and none of a table without a key, whose events find rows so."""
    log = Log(tmp_path, "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(9), f FLOAT)", "CREATE TABLE bag (n INT)",
              flavour=flavour)
    ids = list(range(1, 451))
    log.transaction(("insert", "t", {"id": ids, "s": ["é'"] * 450, "f": [1.5] * 450}), ("insert", "bag", {"n": [1]}))
    log.transaction(("update", "t", {"id": ids, "s": ["é'"] * 450, "f": [1.5] * 450},
                     {"id": ids, "s": [None] * 450, "f": [1.5] * 450}), ("insert", "bag", {"n": [2]}),
                    ("insert", "t", {"id": [999], "s": ["x"], "f": [None]}))
    log.undo(2)
    made = map_file(f"{tmp_path}/undo.000001")
    statements = [event.content.text for event in file_events(made, 4, made.size) if event.name == "QUERY"]
    begin = statements.index("BEGIN")
    assert statements[begin + 1:begin + 3] == ["SET NAMES utf8mb4", "SET time_zone = '+00:00'"]
    probes = statements[begin + 3:]
    found = [probe.count("`id` <=> ") for probe in probes]
    assert sum(found) == 451 and max(found) == 200
    assert all(probe.startswith("SET @guard = ~0 + ((SELECT COUNT(*) FROM `d`.`t` WHERE (`id` = ") for probe in probes)
    assert [int(probe.rpartition("< ")[2].split(")")[0]) for probe in probes] == found
    assert "HEX(CONVERT(`s` USING utf8mb4)) <=> HEX(NULL)" in probes[0]
    [guard] = [statement for statement in statements[:begin] if statement.startswith("SET @guard")]
    assert "information_schema.REFERENTIAL_CONSTRAINTS" in guard
