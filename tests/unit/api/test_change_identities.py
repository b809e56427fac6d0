"""(_commit_version, _seq) in logs that are made: the same in every feed, of any part of the log, compressed or not.
"""

import random

import orjson
import pyarrow as pa
import pytest

import applier
import applier.binlog
from applier.binlog.events.compression import compressed
from applier.cli import main
from applier.jobs.changes import feed as feeds
from applier.jobs.changes.job import ChangeLog
from applier.jobs.changes.statements import seq_at
from applier.jobs.spark_source.options import parse
from applier.jobs.spark_source.source import BinlogReader
from applier.options import ChangesOptions

TABLES = ("d.a", "d.b")
OF_CHANGES = ["_commit_version", "_seq", "_change_type", "_file", "_pos", "_row"]
OPERATIONS = {"c": "insert", "u": "update", "d": "delete", "t": "truncate"}
FORMS = [("mysql", False), ("mysql", True), ("mariadb", False), ("mariadb", True)]


@pytest.fixture(params=FORMS, ids=lambda form: form[0] + "-compressed" * form[1])
def made(request, tmp_path):
    """An archive of two files, and a position between two transactions of each."""
    flavour, compress = request.param
    chance, rows, places = random.Random(flavour), {table: {} for table in TABLES}, []
    log = applier.binlog.Writer(tmp_path / "binlog.000001", flavour=flavour, compress=compress)
    log.query("CREATE DATABASE d")
    for table in TABLES:
        log.query(f"CREATE TABLE {table} (id INT PRIMARY KEY, v VARCHAR(40))")
    for number in range(60):
        if number == 30:
            log.rotate(tmp_path / "binlog.000002")
        if number in (10, 40):
            log.query(f"ALTER TABLE d.a ADD COLUMN c{number} INT DEFAULT 1")
        if number in (20, 50):
            log.query("TRUNCATE TABLE d.b")
            rows["d.b"].clear()
        with log.transaction():
            for _ in range(chance.randint(1, 6)):
                table = chance.choice(TABLES)
                write(log, table, rows[table], chance)
        places.append(log.position)
    log.close()
    return tmp_path, [f"{path.rpartition('/')[2]}:{at}" for path, at in places]


def write(log, table, rows, chance):
    """A statement: some new rows, or changes to some of those that are there."""
    some = chance.sample(sorted(rows), min(len(rows), chance.randint(1, 5)))
    kind = chance.choice(["insert", "insert", "update", "delete"]) if some else "insert"
    if kind == "insert":
        some = [chance.randint(1, 1 << 30) for _ in range(chance.randint(1, 9))]
        log.insert(table, {"id": some, "v": ["same"] * len(some)})
        rows.update(dict.fromkeys(some, "same"))
    elif kind == "update":
        log.update(table, {"id": some, "v": [rows[id] for id in some]}, {"id": some, "v": [str(id) for id in some]})
        rows.update({id: str(id) for id in some})
    else:
        log.delete(table, {"id": some, "v": [rows.pop(id) for id in some]})


def read(path, table, **options):
    return applier.changes(path, table, **options).to_arrow().select(OF_CHANGES).to_pylist()


def identity(row):
    return row["_commit_version"], row["_seq"]


@pytest.mark.by_turns(one_in=2)
def test_they_are_the_same_however_a_log_is_read(made, tmp_path, monkeypatch):
    path, places = made
    changes = {table: read(path, table) for table in TABLES}
    in_order = sorted((row for rows in changes.values() for row in rows), key=identity)
    for number, row in enumerate(in_order[1:]):
        is_second = row["_change_type"] == "update_postimage"
        assert (identity(row) == identity(in_order[number])) == is_second
        before = in_order[number]
        assert is_second or (before["_file"], before["_pos"]) <= (row["_file"], row["_pos"])
    for table, rows in changes.items():
        assert rows == sorted(rows, key=identity)  # both rows of an update are in their order already
        log = ChangeLog(ChangesOptions((str(path),)))
        feed = log.feed(tuple(table.split(".")))
        for size in (1, 500):
            parts = (batch for part in feed.parts(size) for batch in part.batches())
            assert pa.Table.from_batches(parts, feed.schema).select(OF_CHANGES).to_pylist() == rows
        complete = [row for row in read(path, table, complete=True) if row["_row"] == 0 or row in rows]
        assert complete == [row for row in rows if row["_row"] == 0 or row in complete]
        for place in places[5::12]:
            base = applier.replay(path, tmp_path / f"{table}{place}", stop=place).snapshot
            known = [row for row in rows if (row["_file"], row["_pos"]) >= (base.position.file, base.position.offset)]
            assert read(path, table, base=base) == known
            assert [row for row in read(path, table, base=base, complete=True) if row in known] == \
                [row for row in known if row in complete]
    monkeypatch.setattr(feeds, "MOST_ROWS", 16)
    monkeypatch.setattr(compressed, "AHEAD_BYTES", 150)
    assert {table: read(path, table) for table in TABLES} == changes


def lines(capture, path, format, *options):
    assert main(["changes", "--binlogs", str(path), "--format", format, *options]) == 0
    return list(map(orjson.loads, capture.readouterr().out.splitlines()))


def test_files_and_spark_have_them(made, tmp_path, capsysbinary):
    path, _ = made
    known = {(table, *identity(row), row["_change_type"].partition("_")[0]) for table in TABLES
             for row in read(path, table)}
    json = lines(capsysbinary, path, "json")
    assert sorted((line["table"], line["commit_version"], line["seq"], line["op"]) for line in json) == sorted(known)
    of_b = [(*map(int, orjson.loads(line["source"]["sequence"])), OPERATIONS[line["op"]])
            for line in lines(capsysbinary, path, "debezium", "--tables", "d.b")]  # of d.a, images have too few columns
    assert of_b == sorted(one[1:] for one in known if one[0] == "d.b")
    reader = BinlogReader(parse({"path": str(path)}))
    rows = [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]
    assert sorted((row["_table"], *identity(row), row["_change_type"]) for row in rows) == sorted(known)


def test_it_is_the_offset_of_the_row(tmp_path):
    """In a log that is not compressed: each row of an event, and the statement that emptied the table."""
    with applier.binlog.Writer(tmp_path / "binlog.000007") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(9))")
        with log.transaction():
            log.insert("d.t", {"id": [1, 2, 3], "v": ["abc", "", "d"]})
        log.query("TRUNCATE TABLE d.t")
        end = log.position[1]
    rows = read(tmp_path, "d.t")
    data = (tmp_path / "binlog.000007").read_bytes()
    images = [b"\0\1\0\0\0\3abc", b"\0\2\0\0\0\0", b"\0\3\0\0\0\1d"]
    at = [data.index(image, data.index(images[0])) for image in images]
    assert [row["_seq"] for row in rows] == [*(seq_at(offset + 1) for offset in at), seq_at(end)]
    assert rows[3]["_change_type"] == "truncate"


def test_two_statements_in_one_and_rows_that_go_on(tmp_path):
    """RENAME TABLE takes a table away and puts another one in its place."""
    with applier.binlog.Writer(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        for table in "t", "u":
            log.query(f"CREATE TABLE d.{table} (id INT PRIMARY KEY)")
        with log.transaction():
            log.insert("d.t", {"id": [1]})
            log.insert("d.u", {"id": [2, 3]})
        log.query("RENAME TABLE d.t TO d.gone, d.u TO d.t")
        end = log.position[1]
    rows = read(tmp_path, "d.t", complete=True)[1:]
    assert [row["_change_type"] for row in rows] == ["truncate", "alter", "insert", "insert"]
    assert [row["_seq"] - seq_at(end) for row in rows] == [0, 1, 2, 3]


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_rows_that_foreign_keys_change(tmp_path, flavour, compress):
    """They come after the row that they follow, in the order of their key, wherever the log or the base begins."""
    log = applier.binlog.Writer(tmp_path / "binlog.000001", flavour=flavour, compress=compress)
    log.query("CREATE DATABASE d")
    log.query("CREATE TABLE d.p (id INT PRIMARY KEY)")
    log.query("CREATE TABLE d.c (id INT PRIMARY KEY, p INT, KEY (p), FOREIGN KEY (p) REFERENCES d.p (id) "
              "ON DELETE CASCADE)")
    ids = random.Random(1).sample(range(1000), 40)
    with log.transaction():
        log.insert("d.p", {"id": [1, 2, 3]})
        log.insert("d.c", {"id": ids, "p": [1 + number % 3 for number in range(40)]})
    place = f"binlog.000001:{log.position[1]}"
    with log.transaction():
        log.delete("d.p", {"id": [1, 2]})
        log.insert("d.c", {"id": [2000], "p": [3]})
        log.delete("d.p", {"id": [3]})
    log.close()
    base = applier.replay(tmp_path, tmp_path / "base", stop=place).snapshot
    causes = {row["id"]: row["_seq"] for row in applier.changes(tmp_path, "d.p", base=base).to_arrow().to_pylist()}
    found = [applier.changes(tmp_path, "d.c", base=given, complete=True).to_arrow() for given in (None, base)]
    whole, based = ([(row["_seq"], row["_cascaded"], row["id"], row["p"]) for row in changes.to_pylist()]
                    for changes in found)
    assert whole[40:] == based == sorted(based) and len({seq for seq, *_ in based}) == 42
    assert [(id, p) for _, _, id, p in based] == [
        *sorted((id, 1) for id in ids[0::3]), *sorted((id, 2) for id in ids[1::3]), (2000, 3),
        *sorted([*((id, 3) for id in ids[2::3]), (2000, 3)])]
    assert all(not made or causes[p] < seq < min([*(one for one in causes.values() if one > causes[p]), 1 << 62])
               for seq, made, _, p in based)


def test_versions_of_rows_name_the_changes_that_began_and_ended_them(made):
    path, _ = made
    for table in TABLES:
        changes = applier.changes(path, table, complete=True).to_arrow().to_pylist()
        befores, afters = ({(*identity(row), row["id"]): row for row in changes if row["_change_type"] in kinds}
                           for kinds in (("delete", "update_preimage"), ("insert", "update_postimage")))
        found = applier.history(path, table).to_arrow().to_pylist()
        for row in found:
            began, ended = ((row[f"_{end}_seq"], row[f"_{end}_change"], row["id"]) for end in ("from", "to"))
            if row["_change_type"] != "alter":
                assert afters.pop(began)["v"] == row["v"]
            if row["_ended_by"] in ("update", "delete"):
                assert befores.pop(ended)["v"] == row["v"]
            if row["_ended_by"] in ("alter", "truncate"):
                assert ended[:2] in {identity(one) for one in changes if one["_change_type"] == row["_ended_by"]}
        assert all((None, None) != (row["_from_change"], row["_to_change"]) for row in found)
        assert not befores and {row["_pos"] for row in afters.values()} <= {
            row["_pos"] for row in changes if row["_change_type"] == "alter"}
