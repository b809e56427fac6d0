"""Transactions by thread (EV-THREAD): the logs of real servers that two connections wrote to, by record_threads.py."""

import json
from pathlib import Path
from struct import unpack_from

import pytest

import applier
from applier import cli
from applier.errors import UsageError

HERE = Path(__file__).parent
TOLD = ["mysql", "mysql-compressed", "mariadb11"]
"""Whose logs say which thread ran each group; those of MariaDB 10.11 say it of statements only."""
OF_SECOND = [("update_preimage", 2), ("update_postimage", 2), ("insert", 4), ("update_preimage", 1),
             ("update_postimage", 1)]


def log_of(name):
    return str(HERE / name / "binlog.000001"), json.loads((HERE / name / "threads.json").read_text())


def changed(feed):
    return [(row["_change_type"], row["id"]) for row in feed.to_arrow().to_pylist()]


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("complete", [False, True])
def test_changes_of_a_thread(name, complete):
    """Also of an XA transaction, and complete ones, which others' changes matter to."""
    log, (first, second) = log_of(name)
    assert changed(applier.changes(log, "d.t", thread_ids=[second], complete=complete)) == OF_SECOND
    assert changed(applier.changes(log, "d.t", thread_ids=[first], complete=complete)) == [
        ("insert", 1), ("insert", 2), ("insert", 3), ("delete", 3), ("insert", 5)]
    assert len(changed(applier.changes(log, "d.t", thread_ids=(first, second), complete=complete))) == 10


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("name", [*TOLD, "mariadb"])
def test_changes_name_their_server_and_thread(name, complete):
    log, threads = log_of(name)
    rows = applier.changes(log, "d.t", complete=complete).to_arrow().to_pylist()
    assert {row["_thread_id"] for row in rows} - {None} <= {*threads}
    assert any(row["_thread_id"] is None for row in rows) == (name == "mariadb")
    with open(log, "rb") as file:
        assert {row["_server_id"] for row in rows} == set(unpack_from("<I", file.read(13), 9))


@pytest.mark.parametrize("name", TOLD)
def test_a_summary_of_a_thread(name):
    log, (_, second) = log_of(name)
    found = applier.summary(log, thread_ids=[second])
    assert (found.rows.inserts, found.rows.updates, found.rows.deletes, found.transactions) == (2, 2, 0, 3)
    assert [statement.sql for statement in found.statements] == ["CREATE TABLE d.u (id INT PRIMARY KEY)"]
    assert {one.thread_id for one in (*found.largest, *found.threads, *found.statements)} == {second}


@pytest.mark.parametrize("name", TOLD)
def test_a_summary_of_all_names_each_thread(name):
    log, threads = log_of(name)
    assert {one.thread_id for one in applier.summary(log).threads} == {*threads}


@pytest.mark.parametrize("name", TOLD)
def test_versions_that_a_thread_began_or_ended(name):
    log, (first, second) = log_of(name)

    def versions(thread):
        rows = applier.history(log, "d.t", thread_ids=[thread]).to_arrow().to_pylist()
        return [(row["id"], row["v"]) for row in rows]

    assert versions(second) == [(1, "a"), (1, "y"), (2, "b"), (2, "x"), (4, "d")]
    assert versions(first) == [(1, "a"), (2, "b"), (3, "c"), (5, "e")]


@pytest.mark.parametrize("name", TOLD)
def test_undo_of_a_thread(name, tmp_path):
    log, (_, second) = log_of(name)
    undone = applier.undo(log, tmp_path / "undo.sql", thread_ids=[second], tables="d.t")
    assert [(one.name, one.inserted, one.deleted, one.updated) for one in undone.tables] == [("d.t", 0, 1, 2)]
    with pytest.raises(UsageError, match="no transactions to undo are selected"):
        applier.undo(log, tmp_path / "none.sql", tables="d.t")


@pytest.mark.parametrize("name", TOLD)
def test_show_of_a_thread(name, capfd):
    log, (_, second) = log_of(name)
    assert cli.main(["show", "--binlogs", log, "--thread", str(second)]) == 0
    shown = capfd.readouterr().out
    assert [line for line in shown.splitlines() if line.startswith("### ") and "`" in line] == [
        "### UPDATE `d`.`t`", "### INSERT INTO `d`.`t`", "### INSERT INTO `d`.`u`", "### UPDATE `d`.`t`"]
    assert "CREATE TABLE d.u" in shown and "CREATE TABLE d.t" not in shown


def test_a_log_that_does_not_name_threads_says_so(tmp_path, capfd):
    """MariaDB 10.11: of row changes only those of XA transactions are known, by their XA COMMIT."""
    log, (_, second) = log_of("mariadb")
    why = "MariaDB before 11.5 does not log the thread of row changes"
    found = applier.changes(log, "d.t", thread_ids=[second])
    assert changed(found) == OF_SECOND[-2:] and any(why in note for note in found.notes)
    assert any(why in note for note in applier.summary(log, thread_ids=[second]).notes)
    assert any(why in note for note in applier.history(log, "d.t", thread_ids=[second]).notes)
    assert cli.main(["show", "--binlogs", log, "--thread", str(second)]) == 0
    said = capfd.readouterr()
    assert why in " ".join(said.err.split()) and "CREATE TABLE d.u" in said.out and "### INSERT" not in said.out


@pytest.mark.parametrize("name", [*TOLD, "mariadb"])
def test_a_thread_that_ran_nothing(name, tmp_path, capfd):
    log, _ = log_of(name)
    for call in (lambda: applier.changes(log, "d.t", thread_ids=[4000]),
                 lambda: applier.summary(log, thread_ids=[4000]),
                 lambda: applier.undo(log, tmp_path / "undo.sql", thread_ids=[4000])):
        with pytest.raises(UsageError, match="contain no transaction of thread 4000"):
            call()
    assert cli.main(["show", "--binlogs", log, "--thread", "4000"]) == 2
    assert "contain no transaction of thread 4000" in " ".join(capfd.readouterr().err.split())


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("tables", [[], ["--tables", "d.t"]])
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_position_in_a_group_shows_its_gtid(name, tables, form, capfd):
    """EV-START: whose rows these are is said, and nothing of the group before."""
    log, (_, second) = log_of(name)
    [group] = [one for one in applier.summary(log, thread_ids=[second]).largest if one.rows == 2]
    [length] = unpack_from("<I", Path(log).read_bytes(), group.start + 9)

    def shown(position):
        assert cli.main(["show", "--binlogs", log, *tables, "--format", form, "--start-position", str(position)]) == 0
        return capfd.readouterr().out

    at = {"text": "\n# at {}\n", "json": '"pos":{},'}[form]
    whole, part, next_one = shown(group.start), shown(group.start + length), shown(group.end - 1)
    assert whole.count(group.gtid) == part.count(group.gtid) > 0 and group.gtid not in next_one
    assert part.count(at.format(group.start)) == 1
    assert part.count("INSERT INTO `d`.`t`") == whole.count("INSERT INTO `d`.`t`")
