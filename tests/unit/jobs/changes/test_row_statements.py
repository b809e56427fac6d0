"""Statements behind changes: which part of which file is read for them, and how much of them is in memory."""

import numpy as np
import pyarrow as pa
import pytest

import applier
from applier.binlog.locating.groups import GroupPass
from applier.jobs.changes import row_statements
from applier.jobs.changes.job import ChangeLog
from applier.jobs.changes.log import LogFile
from applier.jobs.changes.log_files import LogFiles
from applier.jobs.history.job import row_history
from applier.options import ChangesOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.real_server import Case

_ANNOTATE_ROWS = 160


def ints(*values):
    return pa.array(values, pa.int32())


@pytest.fixture
def archive(tmp_path):
    """Two files with a statement behind each of three and two transactions, whose rows alternate by key."""
    log = BinlogWriter(tmp_path / "binlog.000001", flavour="mariadb")
    sql = "CREATE TABLE d.t (id INT PRIMARY KEY)"
    log.query("CREATE DATABASE d")
    log.query(sql)
    table = parse_statement(sql, flavour="mariadb")[0].definition
    for first in range(5):
        if first == 3:
            log = log.rotate(tmp_path / "binlog.000002")
        with log.transaction():
            log.event(_ANNOTATE_ROWS, f"INSERT {first}".encode())
            log.rows(RowChanges(table, after={"id": ints(*range(first, 500, 5))}))
    log.close()
    return str(tmp_path)


def change_log(archive, **options):
    return ChangeLog(ChangesOptions((archive,), **options))


def test_a_text_is_once_in_a_batch_of_alternating_rows(archive):
    """In the order of keys each row has another statement than the one before."""
    [batch] = row_history(change_log(archive, complete=True), ("d", "t"), statements=True).batches()
    statements = batch.column("_statement")
    assert statements.to_pylist() == [f"INSERT {id % 5}" for id in batch.column("id").to_pylist()]
    assert sorted(statements.dictionary.to_pylist()) == [f"INSERT {number}" for number in range(5)]


def test_files_are_read_once_for_all_tables_and_forgotten_when_they_are_too_much(archive, monkeypatch):
    read = []
    found = GroupPass.row_statements
    monkeypatch.setattr(GroupPass, "row_statements", lambda one, *part: read.append(one.name) or found(one, *part))
    log = change_log(archive)
    for _ in range(2):
        list(log.feed(("d", "t")).with_statements().batches())
    assert read == ["binlog.000001", "binlog.000002"]
    monkeypatch.setattr(row_statements, "MOST_BYTES", 1)
    log = change_log(archive)
    for _ in range(2):
        list(log.feed(("d", "t")).with_statements().batches())
    assert read == ["binlog.000001", "binlog.000002"] * 3


def test_a_batch_with_many_texts_is_divided_between_events(archive, monkeypatch):
    """The rows of an event have one statement, so that they stay together."""
    want = applier.changes(archive, "d.t", statements=True).to_arrow()
    monkeypatch.setattr(row_statements, "MOST_BYTES", 1)
    batches = list(change_log(archive).feed(("d", "t")).with_statements().batches())
    assert pa.Table.from_batches(batches).to_pylist() == want.to_pylist()
    assert [(batch.num_rows, len(batch.column("_statement").dictionary)) for batch in batches] == [(100, 1)] * 5


def test_parts_of_one_file_are_told_apart_by_places():
    early, late = (LogFile("uri", "binlog.000001", start, end, 0, True) for start, end in ((10, 20), (50, 60)))
    files = LogFiles([early, late])
    offsets = np.array([9, 10, 55, 19, 20, 60])
    assert [(file, inside.tolist()) for file, inside in files.having("binlog.000001", offsets)] == [
        (early, [1, 3]), (late, [2])]
    assert not list(files.having("binlog.000002", offsets))


def origins(name, **options):
    """Of the versions of tx.a that began in binlog.000003: by their places."""
    history = row_history(ChangeLog(ChangesOptions(tuple(map(str, Case(name).binlogs)), complete=True, **options)),
                          ("tx", "a"), positions=True)
    rows = pa.Table.from_batches(history.batches(), history.schema).to_pylist()
    places = {(row["_from_file"], row["_from_pos"]) for row in rows if row["_from_file"] == "binlog.000003"}
    return {place: history.origins.of(*place) for place in places}


@pytest.mark.parametrize(("name", "stop", "prepared"), [("transactions-mariadb", 828, (339, 828)),
                                                        ("transactions-mysql", 709, (198, 709))])
def test_changes_that_a_base_has_prepared_are_known_as_without_it(tmp_path, name, stop, prepared):
    """An XA transaction that was prepared before the base is a part of a file of which another part follows."""
    binlogs, options = Case(name).binlogs, {"statements": True, "ignore_foreign_keys": True}
    base = applier.replay(binlogs, tmp_path / "base", stop=f"binlog.000003:{stop}").snapshot
    known = {(row["_file"], row["_pos"]): row["_statement"]
             for row in applier.changes(binlogs, "tx.a", **options).to_arrow().to_pylist()}
    part = applier.changes(binlogs, "tx.a", base=base, **options).to_arrow().to_pylist()
    assert any(row["_file"] == "binlog.000003" and prepared[0] <= row["_pos"] < prepared[1] for row in part)
    assert all(row["_statement"] == known[row["_file"], row["_pos"]] for row in part)
    versions = applier.history(binlogs, "tx.a", base=base, statements=True).to_arrow().to_pylist()
    assert {row["_statement"] for row in versions if row["id"] == 70} == {
        row["_statement"] for row in part if row["id"] == 70}
    found, whole = origins(name, base=base.uri), origins(name)
    assert found and found == {place: whole[place] for place in found}
    assert any(prepared[0] <= offset < prepared[1] for _, offset in found)
