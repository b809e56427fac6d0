"""`changes(after=)` and `follow`: each change once, with the definitions of the log before it."""

import json
import os
from datetime import UTC, datetime
from itertools import pairwise

import pytest

import applier
from applier import cli
from applier.binlog.locating.groups import GroupPass
from tests.support.binlog_server import PASSWORD, BinlogServer
from tests.support.real_server import Case

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
XA = ["transactions-mysql", "transactions-mariadb"]


def place(case):
    return str(case.binlogs[0].parent)


def identities(changes):
    columns = ["_change_type", "_commit_version", "_seq", "_gtid", "_file", "_pos", "_row"]
    return changes.to_arrow().select(columns).to_pylist()


def one_file(folder, *names):
    """A log of a table d.t, and a group with a row of each of these ids."""
    log = applier.binlog.Writer(folder / "binlog.000001")
    log.query("CREATE DATABASE d")
    log.query("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))", "d")
    for number in names:
        insert(log, number)
    return log


def have(folder, whole, position=None):
    """Have a log in a folder up to a position, or whole."""
    folder.mkdir(exist_ok=True)
    last, end = ("~", None) if position is None else (os.path.basename(position[0]), position[1])
    for file in sorted(whole.iterdir()):
        if file.name <= last:
            (folder / file.name).write_bytes(file.read_bytes()[:end if file.name == last else None])
    return folder


def insert(log, number, table="d.t"):
    with log.transaction():
        log.insert(table, {"id": [number], "s": [f"row {number}"]})


@pytest.mark.slow
@pytest.mark.parametrize("name", XA)
def test_a_reading_goes_on_after_where_the_one_before_ended(name):
    """Also where a transaction is prepared before and committed after: its changes come once, with its commit."""
    logs, prepared = place(Case(name)), 0
    places = [(file.name, int(end)) for file in [GroupPass(str(path)) for path in Case(name).binlogs]
              for end in file.groups().ends]
    asked = {"ignore_foreign_keys": True}
    for table in ("tx.a", "tx.b", "tx.m"):
        whole = identities(applier.changes(logs, table, **asked))
        assert [row["_commit_version"] for row in whole] == sorted(row["_commit_version"] for row in whole)
        for at in places[3::4]:
            try:
                before = applier.changes(logs, table, stop=at, **asked)
            except applier.SchemaError:  # the table is made later
                continue
            assert str(before.position) == f"{at[0]}:{at[1]}"
            first, second = identities(before), identities(applier.changes(logs, table, after=before.position, **asked))
            assert first + second == whole
            prepared += any((row["_file"], row["_pos"]) < at for row in second)
            by_gtid = applier.changes(logs, table, after=applier.GtidSet.parse(before.position.gtid_set), **asked)
            assert identities(by_gtid)[-len(second) or len(second):] == second
    assert prepared


@pytest.mark.slow
@pytest.mark.parametrize("name", [*XA, "ddl-added-mysql", "mariadb-sequences"])
def test_batches_add_up_to_the_log(name):
    found, ends = {}, []
    logs = place(Case(name))
    for batch in applier.follow(logs, until_now=True, batch_bytes=1500, ignore_foreign_keys=True):
        for table, changes in batch.items():
            found.setdefault(table, []).extend(identities(changes))
        assert batch.number == len(ends) + 1
        ends.append((batch.position.file, batch.position.offset))
    assert len(ends) > 2
    assert all(before < after for before, after in pairwise(ends))
    for table, rows in found.items():
        assert rows == identities(applier.changes(logs, table, ignore_foreign_keys=True))


def test_what_was_not_acknowledged_comes_again_the_same(tmp_path):
    (tmp_path / "whole").mkdir()
    with one_file(tmp_path / "whole", 1, 2) as log:
        then = log.position
        insert(log, 3)
    logs = have(tmp_path / "log", tmp_path / "whole", then)
    asked = {"state": tmp_path / "state", "until_now": True, "batch_bytes": 150}
    first = [(batch.number, batch.position, identities(batch["d.t"])) for batch in applier.follow(logs, **asked)]
    assert [number for number, _, _ in first] == [1, 2]
    have(logs, tmp_path / "whole")
    again = applier.follow(logs, **asked | {"batch_bytes": "1G"})
    batches = [next(again), next(again), next(again)]
    assert [(batch.number, batch.position, identities(batch["d.t"])) for batch in batches[:2]] == first
    assert [row["id"] for row in batches[2]["d.t"].to_arrow().to_pylist()] == [3]
    batches[1].acknowledge()
    batches[0].acknowledge()  # has no effect: it was done by then
    again.close()
    [batch] = applier.follow(tmp_path / "log", **asked)
    assert (batch.number, batch.position) == (3, batches[2].position)
    batch.acknowledge()
    assert [*applier.follow(tmp_path / "log", **asked)] == []


def test_a_sink_that_keeps_the_position_is_enough(tmp_path):
    """It is ahead of the state where a program ends between storing and acknowledging; of earlier files none is needed
    then."""
    (tmp_path / "whole").mkdir()
    with one_file(tmp_path / "whole", 1, 2, 3) as log:
        then = log.position
        log.rotate(tmp_path / "whole/binlog.000002")
        log.query("ALTER TABLE t ADD COLUMN n INT DEFAULT 7", "d")
        with log.transaction():
            log.insert("d.t", {"id": [4], "s": ["row 4"], "n": [8]})
    asked = {"state": tmp_path / "state", "until_now": True, "batch_bytes": 150}
    batches = []
    for batch in applier.follow(have(tmp_path / "log", tmp_path / "whole", then), **asked):
        batches.append(batch)
        batches[0].acknowledge()
    have(tmp_path / "log", tmp_path / "whole")
    rest = [*applier.follow(tmp_path / "log", after=batches[1].position, **asked)]
    assert [batch.number for batch in rest] == [*range(3, 3 + len(rest))]
    assert [row["id"] for batch in rest for row in batch["d.t"].to_arrow().to_pylist()
            if row["_change_type"] == "insert"] == [3, 4]
    rest[-1].acknowledge()
    (tmp_path / "log/binlog.000001").unlink()
    assert [*applier.follow(tmp_path / "log", **asked)] == []
    with pytest.raises(applier.ApplierError):
        list(applier.follow(tmp_path / "log", after=batches[0].position, **asked))


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("acknowledged", [0, 1, 2])
def test_after_a_failover_batches_end_where_they_did(tmp_path, flavour, acknowledged):
    """In the log of the new server, whose files have the same names and other bytes: a batch that comes again has what
    it had, and the next one what comes after it. If the new log lacks transactions, it is refused until it has them."""
    def log(folder, n, **options):
        folder.mkdir()
        with applier.binlog.Writer(folder / "binlog.000001", time=NOON, flavour=flavour, **options) as writer:
            writer.query("CREATE DATABASE d")
            writer.query("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))", "d")
            for number in range(n):
                insert(writer, number)
        return folder

    def read(batches):
        return [(batch.number, [row["id"] for row in batch["d.t"].to_arrow().to_pylist()]) for batch in batches]

    asked = {"state": tmp_path / "state", "until_now": True, "batch_bytes": 800}
    logs = have(tmp_path / "log", log(tmp_path / "old", 6))
    batches = [*applier.follow(logs, **asked)]
    first = read(batches)
    assert len(first) > 2 and sum(len(ids) for _, ids in first) == 6
    if acknowledged:
        batches[acknowledged - 1].acknowledge()
    have(logs, log(tmp_path / "early", 1, checksum=False))
    with pytest.raises(applier.ArchiveError):
        list(applier.follow(logs, **asked))
    have(logs, log(tmp_path / "new", 9, checksum=False))
    again = read(applier.follow(logs, **asked))
    assert again[:len(first) - acknowledged] == first[acknowledged:]
    assert [id for _, ids in first[:acknowledged] + again for id in ids] == [*range(9)]


def test_a_batch_whose_end_is_gone_from_a_log_without_gtids(tmp_path):
    """Only its position names it."""
    log = tmp_path / "log"
    log.mkdir()
    with applier.binlog.Writer(log / "binlog.000001", gtids="none") as writer:
        writer.query("CREATE DATABASE d")
        writer.query("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))", "d")
        insert(writer, 1)
        early = writer.position
        insert(writer, 2)
    assert [batch.number for batch in applier.follow(log, state=tmp_path / "state", until_now=True)] == [1]
    os.truncate(log / "binlog.000001", early[1])
    with pytest.raises(applier.ArchiveError, match=r"past the end of binlog\.000001"):
        list(applier.follow(log, state=tmp_path / "state", until_now=True))


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("same_bytes, rotated", [(True, False), (False, False), (True, True)])
@pytest.mark.parametrize("acknowledged", [True, False])
def test_a_log_that_began_again_is_refused(tmp_path, flavour, same_bytes, rotated, acknowledged):
    """After RESET the server gives its GTIDs to other transactions, in files with the names of earlier ones. A batch
    that was handed out before does not come again with the changes of the new log."""
    def log(folder, ids, day):
        folder.mkdir()
        with applier.binlog.Writer(folder / "binlog.000001", flavour=flavour, checksum=same_bytes or day == 14,
                                   time=NOON.replace(day=day)) as writer:
            writer.query("CREATE DATABASE d")
            writer.query("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))", "d")
            for number in ids:
                insert(writer, number)
            if rotated:
                writer.rotate(folder / "binlog.000002")
        return folder

    def read():
        for batch in applier.follow(logs, state=tmp_path / "state", until_now=True):
            if acknowledged:
                batch.acknowledge()
            yield batch.number

    logs = have(tmp_path / "log", log(tmp_path / "old", range(10, 14), 14))
    assert list(read()) == [1]
    (logs / "binlog.000002").unlink(missing_ok=True)
    new = log(tmp_path / "new", range(20, 30), 15)
    for end in GroupPass(str(new / "binlog.000001")).groups().ends.tolist():
        have(logs, new, ("binlog.000001", end))
        with pytest.raises(applier.ArchiveError, match=r"other transactions|do not contain|no event group|without"):
            list(read())


def test_a_log_whose_files_are_numbered_anew(tmp_path):
    """A server that was made of a copy continues with its transactions, from its first file on."""
    def log(folder, ids, executed=0, **options):
        folder.mkdir()
        with applier.binlog.Writer(folder / "binlog.000001", time=NOON, executed=executed, **options) as writer:
            if not executed:
                writer.query("CREATE DATABASE d")
                writer.query("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))", "d")
            for number in ids:
                insert(writer, number)
        return folder

    schema = tmp_path / "schema.sql"
    schema.write_text("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(20));")
    logs, state = have(tmp_path / "log", log(tmp_path / "old", range(3))), tmp_path / "state"
    for batch in applier.follow(logs, state=state, until_now=True):
        batch.acknowledge()
    have(logs, log(tmp_path / "late", range(4, 7), executed=6, schema=schema))
    with pytest.raises(applier.ArchiveError, match="precede"):
        list(applier.follow(logs, state=state, until_now=True))
    have(logs, log(tmp_path / "new", range(3, 7), executed=5, schema=schema))
    [batch] = applier.follow(logs, state=state, until_now=True)
    assert [row["id"] for row in batch["d.t"].to_arrow().to_pylist()] == [3, 4, 5, 6]


def test_tables_that_come_to_be_wanted(tmp_path):
    """A table gets a wanted name in a later batch, as after an online change of its definition; where other tables have
    statements that cannot be followed, those that are wanted can."""
    (tmp_path / "log").mkdir()
    with one_file(tmp_path / "log", 1) as log:
        log.query("CREATE TABLE _t_new (id INT PRIMARY KEY, s VARCHAR(20), more INT)", "d")
        insert(log, 1, "d._t_new")
        log.query("RENAME TABLE t TO _t_old, _t_new TO t", "d")
        insert(log, 2)
    batches = [*applier.follow(tmp_path / "log", "d.t", until_now=True, batch_bytes=100)]
    assert [row["id"] for batch in batches for row in batch["d.t"].to_arrow().to_pylist()
            if row["_change_type"] == "insert"] == [1, 2]
    (tmp_path / "unknown").mkdir()
    with one_file(tmp_path / "unknown", 1) as log:
        log.query("ALTER TABLE elsewhere.u ADD COLUMN n INT", "d")
        insert(log, 2)
    batches = [*applier.follow(tmp_path / "unknown", "d.t", until_now=True, batch_bytes=100)]
    assert len(batches) > 1
    assert [row["id"] for batch in batches for row in batch["d.t"].to_arrow().to_pylist()] == [1, 2]


def test_what_has_no_wanted_changes_is_passed_over_and_noted(tmp_path):
    (tmp_path / "log").mkdir()
    with one_file(tmp_path / "log", 1, 2):
        pass
    state = tmp_path / "state"
    assert [*applier.follow(tmp_path / "log", "d.other", state=state, until_now=True)] == []
    known = json.loads(state.read_bytes())
    assert known["acknowledged"] == 0 and known["offered"] == []
    assert known["log"]["position"]["offset"] == os.path.getsize(tmp_path / "log/binlog.000001")


def test_one_process_at_a_time_uses_a_state(tmp_path):
    (tmp_path / "log").mkdir()
    with one_file(tmp_path / "log", 1):
        pass
    batches = applier.follow(tmp_path / "log", state=tmp_path / "state", until_now=True)
    next(batches)
    with pytest.raises(applier.AnotherRun, match="another process follows with this state"):
        next(applier.follow(tmp_path / "log", state=tmp_path / "state", until_now=True))
    batches.close()
    assert next(applier.follow(tmp_path / "log", state=tmp_path / "state", until_now=True)).number == 1


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]"])
def test_a_damaged_state_is_said(tmp_path, damage):
    (tmp_path / "log").mkdir()
    with one_file(tmp_path / "log", 1):
        pass
    (tmp_path / "state").write_bytes(damage)
    with pytest.raises(applier.SnapshotError, match="the state is damaged"):
        next(applier.follow(tmp_path / "log", state=tmp_path / "state", until_now=True))


def test_a_changed_state_is_said(tmp_path):
    (tmp_path / "log").mkdir()
    with one_file(tmp_path / "log", 1):
        pass
    state = tmp_path / "state"
    next(applier.follow(tmp_path / "log", state=state, until_now=True)).acknowledge()
    state.write_text(state.read_text().replace('"s"', '"z"'))
    with pytest.raises(applier.SnapshotError, match="was changed after it was written"):
        next(applier.follow(tmp_path / "log", state=state, until_now=True))


@pytest.mark.slow
def test_a_server_is_copied_and_followed(tmp_path, monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    case, ending = Case("many-files-mysql"), applier.Ending()
    wanted = identities(applier.changes(place(case), "mf.t"))
    (tmp_path / "source").mkdir()
    for file in case.binlogs:
        (tmp_path / "source" / file.name).write_bytes(file.read_bytes())
    with BinlogServer(tmp_path / "source") as server:
        found = []
        for batch in applier.follow(tmp_path / "copy", "mf.t", source=server.url, state=tmp_path / "state", every=0.05,
                                    ending=ending):
            found += identities(batch["mf.t"])
            batch.acknowledge()
            if len(found) == len(wanted):
                ending.ask()
    assert found == wanted


@pytest.mark.slow
def test_on_the_command_line(tmp_path, capfdbinary):
    (tmp_path / "whole").mkdir()
    with one_file(tmp_path / "whole", 1, 2) as log:
        then = log.position
        insert(log, 3)
        end = log.position[1]
    logs, out = have(tmp_path / "log", tmp_path / "whole", then), tmp_path / "out"

    def followed(*options):
        assert cli.main(["changes", "--binlogs", str(logs), "--follow", "--until-now", "--state",
                         str(tmp_path / "state"), *options]) == 0
        return capfdbinary.readouterr().out.decode()

    assert [json.loads(line)["after"]["id"] for line in followed().splitlines()] == [1, 2]
    assert followed() == ""
    have(logs, tmp_path / "whole")
    assert followed("--format", "parquet", "--output", str(out)) == (
        f"batch 2 up to binlog.000001:{end}: 1 change of 1 table\n")
    assert sorted(str(file.relative_to(out)) for file in out.rglob("*") if file.is_file()) == [
        "0000000002/_changes.json", "0000000002/d/t/changes.parquet"]


@pytest.mark.parametrize(("options", "error"), [
    ({"every": 0.0}, "not a valid interval"),
    ({"source": "mysql://u@h:1", "binlogs": ["a", "b"]}, "into one directory"),
    ({"defaults_file": "x"}, "--defaults-file is of a server"), ({"state": "s3://b/state"}, "a file of this machine")])
def test_what_cannot_be_followed(tmp_path, options, error):
    with pytest.raises(applier.UsageError, match=error):
        next(applier.follow(**{"binlogs": tmp_path} | options))


@pytest.mark.parametrize(("options", "error"), [
    (["--state", "x"], "--state is for --follow"),
    (["--follow", "--complete"], "--complete changes cannot be followed"),
    (["--follow", "--stop-position", "b.000001:4"], "no place to stop"),
    (["--follow", "--start-position", "b.000001:4"], "give --after"),
    (["--follow", "--format", "csv"], "batches cannot be one csv file"),
    (["--after", "b.000001:4", "--start-position", "b.000001:4"], "both say where to begin"),
    (["--after", "b.000001:4", "--complete"], "needs the rows that the tables had")])
def test_options_that_do_not_go_together(capfd, tmp_path, options, error):
    assert cli.main(["changes", "--binlogs", str(tmp_path), *options]) == 2
    assert error in " ".join(capfd.readouterr().err.split())
