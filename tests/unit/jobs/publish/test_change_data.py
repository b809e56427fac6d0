"""`applier publish --delta DIR --change-data`: what readers of Delta's change data feed see of publications."""

import json

import pytest
from deltalake import DeltaTable, TableFeatures

import applier
from applier import cli
from applier.io.ending import Ending
from applier.jobs.publish.delta import publication
from tests.support import delta_readers as readers
from tests.support import feeds
from tests.support.iceberg_readers import cells
from tests.support.published import changes

ALL = {"change_data": True}


@pytest.fixture
def publish(tmp_path, replayed):
    return lambda **options: applier.publish(tmp_path / f"out{replayed()}", delta=tmp_path / "delta", **options)


def feed(folder, name, start, end=None):
    """The changes of a commit, or of several: "kind (values)", sorted; the same by every reader."""
    place = readers.place(folder / "delta", "d", name)
    found = [feeds.changes(reader(place, start, end or start)) for reader in feeds.READERS]
    assert found[1:] == found[:1] * (len(found) - 1)
    return sorted(f"{kind} {row}" for kind, row in found[0].elements())


def rows(folder, name):
    found = [cells(reader(readers.place(folder / "delta", "d", name))) for reader in readers.READERS]
    assert found[1:] == found[:1] * (len(found) - 1)
    return found[0]


def test_the_net_change_of_a_commit(tmp_path, log, publish):
    """By key: of a row that was updated twice the first and the last state; of one that came and went nothing."""
    publish(**ALL)
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"]}, after={"id": [1], "v": ["b"]})
        log.update("d.t", before={"id": [1], "v": ["b"]}, after={"id": [1], "v": [None]})
        log.insert("d.t", {"id": [3, 4], "v": ["c", "d"]})
        log.delete("d.t", {"id": [4], "v": ["d"]})
        log.delete("d.t", {"id": [2], "v": ["b"]})
    publish()
    first = ["insert (1, 'a')", "insert (2, 'b')"]
    second = ["delete (2, 'b')", "insert (3, 'c')", "update_postimage (1, None)", "update_preimage (1, 'a')"]
    assert feed(tmp_path, "t", 0) == first and feed(tmp_path, "t", 1) == second
    assert feed(tmp_path, "t", 0, 1) == sorted(first + second)
    assert rows(tmp_path, "t") == ["(1, None)", "(3, 'c')"]
    assert DeltaTable(readers.place(tmp_path / "delta", "d", "t")).history(1)[0]["mysql.position"]


def test_files_that_only_come_or_go_are_their_own_change_data(tmp_path, log, publish):
    publish(**ALL)
    with log.transaction():
        log.insert("d.u", {"id": [7]})
    publish()
    log.query("DROP TABLE u", "d")
    publish()
    log.query("CREATE TABLE u (id INT PRIMARY KEY)", "d")
    with log.transaction():
        log.insert("d.u", {"id": [8]})
    publish()
    assert [feed(tmp_path, "u", number) for number in (1, 2, 3)] == [["insert (7,)"], ["delete (7,)"], ["insert (8,)"]]
    assert not list((tmp_path / "delta").rglob("cdc-*"))


def test_a_table_without_a_key(tmp_path, log, publish):
    """Rows have no names there: an update is a row that goes and one that comes."""
    log.query("CREATE TABLE k (n INT, v TIME(6))", "d")
    with log.transaction():
        log.insert("d.k", {"n": [1, 1, 2], "v": [None, None, -1]})
    publish(**ALL)
    with log.transaction():
        log.update("d.k", before={"n": [2], "v": [-1]}, after={"n": [2], "v": [5]})
        log.delete("d.k", {"n": [1], "v": [None]})
    publish()
    assert feed(tmp_path, "k", 1) == ["delete (1, None)", "delete (2, -1)", "insert (2, 5)"]


def test_columns_that_change_take_all_rows(tmp_path, log, publish):
    """Such a commit has none of the columns before: readers see that all rows went and came."""
    publish(**ALL)
    log.query("ALTER TABLE t ADD COLUMN n INT DEFAULT 5", "d")
    publish()
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"], "n": [5]}, after={"id": [1], "v": ["z"], "n": [5]})
    publish()
    assert feed(tmp_path, "t", 2) == ["update_postimage (1, 'z', 5)", "update_preimage (1, 'a', 5)"]
    altered = feeds.changes(feeds.with_deltalake(readers.place(tmp_path / "delta", "d", "t"), 1, 1))
    assert sorted(feeds.rows_of(altered, feeds.CAME).elements()) == ["(1, 'a', 5)", "(2, 'b', 5)"]
    assert feeds.rows_of(altered, feeds.WENT).total() == 2
    assert [entry["operation"] for entry in DeltaTable(readers.place(tmp_path / "delta", "d", "t")).history()][-1] \
        == "CREATE TABLE"


def test_a_key_that_is_another_one(tmp_path, log, publish):
    """Files of before are in the order of another key: rows are compared all the same."""
    publish(**ALL)
    with log.transaction():
        log.insert("d.t", {"id": [5, 6], "v": ["0", "z"]})
    log.query("ALTER TABLE t DROP PRIMARY KEY, MODIFY v VARCHAR(9) NOT NULL, ADD PRIMARY KEY (v)", "d")
    publish()
    assert feed(tmp_path, "t", 1) == ["insert (5, '0')", "insert (6, 'z')"]
    log.query("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (id)", "d")
    with log.transaction():
        log.delete("d.t", {"id": [5], "v": ["0"]})
    publish()
    assert feed(tmp_path, "t", 2) == ["delete (5, '0')"]


def test_files_that_are_written_anew_with_the_same_rows(tmp_path, log, publish):
    """No row changes by such a commit."""
    publish(**ALL)
    for before, after in (("a", "x"), ("x", "a")):
        with log.transaction():
            log.update("d.t", before={"id": [1], "v": [before]}, after={"id": [1], "v": [after]})
        if after == "a":
            assert changes(publish())["d.t"] == ("changed", 1, 1)
    assert feed(tmp_path, "t", 1) == [] and rows(tmp_path, "t") == ["(1, 'a')", "(2, 'b')"]


def test_asked_for_later(tmp_path, log, publish):
    """From then on: earlier commits have none. Times without a zone and the feed are both features of the table."""
    log.query("CREATE TABLE w (id INT PRIMARY KEY, at DATETIME)", "d")
    with log.transaction():
        log.insert("d.w", {"id": [1, 2], "at": [None, "2024-02-29 01:02:03"]})
    publish()
    with log.transaction():
        log.update("d.w", before={"id": [1], "at": [None]}, after={"id": [1], "at": ["2024-02-29 01:02:04"]})
        log.delete("d.w", {"id": [2], "at": ["2024-02-29 01:02:03"]})
    publish(**ALL)
    at = "datetime.datetime(2024, 2, 29, 1, 2, {})"
    assert feed(tmp_path, "w", 2) == [f"delete (2, {at.format(3)})", f"update_postimage (1, {at.format(4)})",
                                      "update_preimage (1, None)"]
    assert rows(tmp_path, "w") == ["(1, datetime.datetime(2024, 2, 29, 1, 2, 4))"]
    with log.transaction():
        log.insert("d.w", {"id": [3], "at": [None]})
    publish()
    assert feed(tmp_path, "w", 3) == ["insert (3, None)"]


def test_who_comes_second_stops(tmp_path, log, publish, monkeypatch):
    """Somebody else's commit of the same number is not overwritten, and nothing of ours is in the table."""
    publish(**ALL)
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"]}, after={"id": [1], "v": ["z"]})
    place = readers.place(tmp_path / "delta", "d", "t")
    save = publication.save_marker

    def overtaken(storage, marker):
        save(storage, marker)
        if not marker.complete:
            DeltaTable(place).alter.set_table_properties({"delta.logRetentionDuration": "interval 60 days"})

    monkeypatch.setattr(publication, "save_marker", overtaken)
    with pytest.raises(applier.AnotherRun, match="somebody else writes to this table"):
        publish()
    monkeypatch.undo()
    assert rows(tmp_path, "t") == ["(1, 'a')", "(2, 'b')"]
    applier.publish(tmp_path / "out1", delta=tmp_path / "delta")
    assert rows(tmp_path, "t") == ["(1, 'z')", "(2, 'b')"]
    assert feed(tmp_path, "t", 2) == ["update_postimage (1, 'z')", "update_preimage (1, 'a')"]


def test_checkpoints_as_often_as_the_table_wants_them(tmp_path, log, publish):
    """Readers that begin at one find the same."""
    publish(**ALL)
    place = readers.place(tmp_path / "delta", "d", "t")
    DeltaTable(place).alter.set_table_properties({"delta.checkpointInterval": "3"})
    for before, after in (("a", "x"), ("x", "y"), ("y", "z")):
        with log.transaction():
            log.update("d.t", before={"id": [1], "v": [before]}, after={"id": [1], "v": [after]})
        publish()
    assert readers.version(place) == 4
    assert json.loads((tmp_path / "delta/d/t/_delta_log/_last_checkpoint").read_text())["version"] == 3
    assert rows(tmp_path, "t") == ["(1, 'z')", "(2, 'b')"]
    assert [feed(tmp_path, "t", number)[0] for number in (2, 3, 4)] == [
        f"update_postimage (1, '{value}')" for value in "xyz"]


def test_features_of_others(tmp_path, log, publish):
    """Of a table that somebody gave a feature which commits would have to mind."""
    publish(**ALL)
    place = readers.place(tmp_path / "delta", "d", "t")
    DeltaTable(place).alter.add_feature(TableFeatures.DomainMetadata, allow_protocol_versions_increase=True)
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"]}, after={"id": [1], "v": ["z"]})
    with pytest.raises(applier.SnapshotError, match="a feature that is not supported with change data"):
        publish()
    assert rows(tmp_path, "t") == ["(1, 'a')", "(2, 'b')"]


@pytest.mark.parametrize("options", [{}, ALL])
def test_a_table_has_the_features_that_it_needs(tmp_path, log, publish, options):
    """Also where a column is the first to need one, and where the key becomes another one."""
    publish(**options)
    wanted = ["changeDataFeed", "timestampNtz"] if options else ["timestampNtz"]
    for step in ("ADD COLUMN at DATETIME", "DROP PRIMARY KEY, ADD PRIMARY KEY (id, v)"):
        log.query(f"ALTER TABLE t {step}", "d")
        with log.transaction():
            log.insert("d.t", {"id": [len(step)], "v": ["c"], "at": [None]})
        publish()
        protocol = DeltaTable(readers.place(tmp_path / "delta", "d", "t")).protocol()
        assert (protocol.reader_features, sorted(protocol.writer_features)) == (["timestampNtz"], wanted), step
    with log.transaction():
        log.delete("d.t", {"id": [1], "v": ["a"], "at": [None]})
    publish()
    place = readers.place(tmp_path / "delta", "d", "t")
    assert rows(tmp_path, "t") == ["(2, 'b', None)", "(22, 'c', None)", "(41, 'c', None)"]
    if options:
        assert feed(tmp_path, "t", readers.version(place)) == ["delete (1, 'a', None)"]


def test_a_feature_that_deltalake_adds_when_it_sets_a_property(tmp_path, log, publish):
    log.query("ALTER TABLE t ADD COLUMN at DATETIME", "d")
    publish(**ALL)
    place = readers.place(tmp_path / "delta", "d", "t")
    DeltaTable(place).alter.set_table_properties({"delta.logRetentionDuration": "interval 60 days"})
    with log.transaction():
        log.delete("d.t", {"id": [1], "v": ["a"], "at": [None]})
    publish()
    assert rows(tmp_path, "t") == ["(2, 'b', None)"]


def test_a_table_in_which_nothing_changed_when_it_was_asked_for(tmp_path, log, publish):
    """Publications after that do not ask again."""
    publish()
    assert changes(publish(**ALL))["d.t"] == ("unchanged", 0, 0)
    with log.transaction():
        log.update("d.t", before={"id": [1], "v": ["a"]}, after={"id": [1], "v": ["z"]})
    publish()
    place = readers.place(tmp_path / "delta", "d", "t")
    assert feed(tmp_path, "t", readers.version(place)) == ["update_postimage (1, 'z')", "update_preimage (1, 'a')"]


@pytest.mark.parametrize("name", ["_change_type", "_Commit_Version", "_changed"])
def test_a_column_that_a_feed_has(tmp_path, log, publish, name):
    """Nothing is published of other tables either."""
    log.query(f"CREATE TABLE x (id INT PRIMARY KEY, {name} INT)", "d")
    with pytest.raises(applier.UsageError, match=f"column {name} has the name of a change-data column"):
        publish(**ALL)
    assert not list((tmp_path / "delta").rglob("*.json"))


def test_from_sync(tmp_path, log):
    """Each round is a commit, and a feed of several says what changed in each."""
    script = iter([("a", "b"), ("b", "c")])

    class Rounds(Ending):
        def wait(self, seconds):
            if (step := next(script, None)) is None:
                return True
            with log.transaction():
                log.update("d.t", before={"id": [1], "v": [step[0]]}, after={"id": [1], "v": [step[1]]})
            log.flush()
            return False

    log.flush()
    rounds = list(applier.sync(tmp_path / "binlog.000001", tmp_path / "lake", delta=tmp_path / "delta", ending=Rounds(),
                               every=0.1, **ALL))
    assert [done.error for done in rounds] == [None] * 3
    assert [feed(tmp_path, "t", number) for number in (1, 2)] == [
        ["update_postimage (1, 'b')", "update_preimage (1, 'a')"],
        ["update_postimage (1, 'c')", "update_preimage (1, 'b')"]]


def test_the_command(tmp_path, log, publish, capsys):
    publish()
    place = str(tmp_path / "delta")
    assert cli.main(["publish", str(tmp_path / "out0"), "--delta", place, "--change-data"]) == 0
    assert cli.main(["publish", str(tmp_path / "out0"), "--iceberg", "sqlite:////x.db", "--change-data"]) == 2
    assert "or --delta (with --change-data" in " ".join(capsys.readouterr().err.split())
    with pytest.raises(applier.UsageError, match="also give --delta"):
        next(applier.sync(tmp_path, tmp_path / "lake", change_data=True))
    assert rows(tmp_path, "t") == ["(1, 'a')", "(2, 'b')"]
