"""`applier sql`: snapshots, lakes as of a version, histories and changes by their tables' names."""

import json

import pytest

import applier
from applier import cli
from applier.errors import UsageError
from tests.support.small_logs import commit, insert, new_log, update


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A lake of two versions, the history of its table, and its changes; and where the first version stands."""
    folder = tmp_path_factory.mktemp("places")
    (folder / "log").mkdir()
    with new_log(folder / "log") as log:
        commit(log, insert([(1, 10, "a"), (2, 20, "b")]))
        middle = log.position
        commit(log, update([(1, 10, "a")], [(1, 11, "c\x1b[31m")]))
    binlogs = str(folder / "log")
    applier.replay(binlogs, lake=folder / "lake", stop=("binlog.000001", middle))
    applier.replay(binlogs, lake=folder / "lake")
    assert cli.main(["-q", "history", "--binlogs", binlogs, "--tables", "shop.item", "--output",
                     str(folder / "history")]) == 0
    assert cli.main(["-q", "changes", "--binlogs", binlogs, "--output", str(folder / "changes"),
                     "--format", "parquet"]) == 0
    return folder, f"binlog.000001:{middle}"


def _rows(capsys, *words):
    assert cli.main(["sql", *map(str, words), "--format", "json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_lake_as_of_any_version(places, capsys):
    folder, middle = places
    query = "SELECT n FROM shop.item ORDER BY id"
    assert _rows(capsys, folder / "lake", query) == [{"n": 11}, {"n": 20}]
    assert _rows(capsys, folder / "lake", "--as-of", middle, query) == [{"n": 10}, {"n": 20}]
    assert _rows(capsys, folder / "lake", "SELECT count(*) AS n FROM item") == [{"n": 2}]  # without its database


def test_two_places_at_once(places, capsys):
    folder, _ = places
    assert _rows(capsys, folder / "lake", "--also", f"before={folder}/lake/_versions/0000000001",
                 "SELECT old.n AS old, item.n AS new FROM item JOIN before.shop.item AS old USING (id) "
                 "WHERE old.n <> item.n") == [{"old": 10, "new": 11}]


def test_histories_and_changes(places, capsys):
    folder, _ = places
    assert _rows(capsys, folder / "history", "--also", f"c={folder}/changes",
                 "SELECT count(*) AS n FROM item_history UNION ALL "
                 "SELECT count(*) FROM item_as_of(9223372036854775807) UNION ALL "
                 "SELECT count(*) FROM c.shop.item_changes ORDER BY n") == [{"n": 2}, {"n": 3}, {"n": 4}]


def test_rows_as_a_table_and_in_files(places, capsys, tmp_path):
    folder, _ = places
    lake = str(folder / "lake")
    assert cli.main(["sql", lake, "FROM item"]) == 0
    out = capsys.readouterr().out
    assert "│ " in out and "\x1b" not in out  # no value reaches the terminal as a command to it
    assert cli.main(["sql", lake, "FROM item ORDER BY id", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[2] == "2,20,b"
    assert cli.main(["sql", lake, "FROM item", "--format", "parquet", "--output", str(tmp_path / "a.parquet")]) == 0
    assert _rows(capsys, lake, f"SELECT count(*) AS n FROM '{tmp_path}/a.parquet'") == [{"n": 2}]
    assert cli.main(["sql", lake, "FROM item", "--format", "csv", "--output", str(tmp_path / "a.parquet")]) == 2
    assert "the output already exists" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), [
    (["FROM nothing"], "DuckDB refuses the query: Catalog Error: Table with name nothing does not exist!"),
    (["SELEC 1"], "DuckDB refuses the query: Parser Error"),
    (["CREATE TABLE t (a INT)"], "this statement has no rows"),
    (["FROM item", "--also", "before"], "it is not NAME=PLACE"),
    (["FROM item", "--also", "a.b=/x"], "cannot name a place in queries"),
    (["FROM item", "--format", "parquet"], "--format parquet goes to a file"),
    (["FROM item", "--output", "x"], "--format table goes to the terminal"),
])
def test_what_is_wrong_is_one_line(places, words, said, capsys):
    assert cli.main(["sql", str(places[0] / "lake"), *words]) == 2
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err


def test_a_damaged_page_is_named_as_damage(places, tmp_path, capsys):
    folder, _ = places
    snapshot = applier.replay(folder / "log", tmp_path / "snapshot").snapshot
    [file] = (tmp_path / "snapshot" / "shop" / "item").glob("*.parquet")
    data = bytearray(file.read_bytes())
    data[60] ^= 1
    file.write_bytes(bytes(data))
    assert cli.main(["sql", snapshot.uri, "SELECT sum(id), max(n) FROM item"]) == 2
    assert "a file is damaged" in capsys.readouterr().err


def test_in_python_with_snapshots(places):
    folder, middle = places
    lake = folder / "lake"
    earlier = applier.Snapshot(lake, as_of=middle)
    assert applier.query(lake, "SELECT sum(item.n - old.n) FROM item JOIN e.shop.item AS old USING (id)",
                       also={"e": earlier}).fetchall() == [(1,)]
    assert applier.query(lake, "SELECT max(n) FROM item", as_of=middle).fetchall() == [(20,)]
    with pytest.raises(UsageError, match="cannot name a place"):
        applier.query(lake, "SELECT 1", also={"memory": lake})
