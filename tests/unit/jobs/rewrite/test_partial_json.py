"""`applier.rewrite --partial-json`: diffs instead of the documents that updates change."""

import random

import pyarrow as pa
import pytest

import applier
from applier import cli
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from jsondiff import wire
from jsondiff.diff import DiffError
from jsondiff.encode import encode
from tests.support.random_diffs import chain, document
from tests.support.rewritten import plain_events, wrong_places

SQL = "CREATE TABLE t (id INT PRIMARY KEY, j JSON, n INT, k JSON)"
[_created] = parse_statement(SQL, default_database="d", flavour="mysql")
TABLE = _created.definition
LONG = {"name": "x" * 100, "list": [1, 2, {"a": "y" * 100}]}


def image(rows):
    """Rows as (id, j, n, k), documents as values or bytes; None is SQL's NULL."""
    ids, *documents, numbers = zip(*((id, j, k, n) for id, j, n, k in rows), strict=True)
    j, k = (pa.array([one if one is None or isinstance(one, bytes) else encode(one) for one in column], pa.binary())
            for column in documents)
    return {"id": pa.array(ids, pa.int32()), "j": j, "n": pa.array(numbers, pa.int32()), "k": k}


def written(folder, *updates, **options):
    """A log in which the rows come that are updated first, and then the updates: (before, after)."""
    folder.mkdir()
    with BinlogWriter(folder / "binlog.000001", **options) as log:
        log.query("CREATE DATABASE d")
        log.query(SQL, "d")
        with log.transaction():
            log.rows(RowChanges(TABLE, after=image(updates[0][0])))
        for before, after in updates:
            with log.transaction():
                log.rows(RowChanges(TABLE, before=image(before), after=image(after)))
    return folder


def kinds(folder):
    return [event.name for event in plain_events(folder / "binlog.000001") if event.name.endswith("UPDATE_ROWS")]


def changes(folder):
    read = pa.table(applier.changes(folder, "d.t", complete=True))
    places = ("_pos", "_commit_version", "_seq", "_row")
    return read.drop_columns([name for name in places if name in read.column_names])


def test_diffs_where_they_are_less(tmp_path):
    """RW-JSON, JD-TYPE, JD-WIRE: rows of one event may have diffs, documents as a whole, NULLs, or no change."""
    rows = [(1, LONG, 0, None), (2, LONG, 0, LONG), (3, LONG, 0, [1]), (4, LONG, 0, LONG), (5, None, 0, LONG)]
    after = [(1, LONG | {"name": 1}, 1, None), (2, LONG, 1, LONG | {"new": True}), (3, None, 1, [2]), (4, [], 1, LONG),
             (5, LONG, 1, None)]
    log = written(tmp_path / "log", (rows, after), (after, [(*row[:2], 2, row[3]) for row in after]))
    done = applier.rewrite(log, tmp_path / "out", image="minimal", partial_json=True)
    assert kinds(tmp_path / "out") == ["PARTIAL_UPDATE_ROWS", "UPDATE_ROWS"]
    assert wrong_places(tmp_path / "out" / "binlog.000001") == []
    assert changes(tmp_path / "out") == changes(log)
    without = applier.rewrite(log, tmp_path / "without", image="minimal")
    assert done.bytes_after < without.bytes_after


def test_each_document_of_a_row_has_a_diff(tmp_path):
    """RW-JSON: the unchanged texts are in the INSERT alone."""
    log = written(tmp_path / "log", ([(1, LONG, 0, LONG)], [(1, LONG | {"name": 1}, 1, LONG | {"new": True})]))
    applier.rewrite(log, tmp_path / "out", image="minimal", partial_json=True)
    assert (tmp_path / "out" / "binlog.000001").read_bytes().count(b"y" * 100) == 2
    assert changes(tmp_path / "out") == changes(log)


def test_whole_documents_where_diffs_are_no_less(tmp_path):
    """JD-ENC: no diff replaces a root, and those of a small document are larger."""
    log = written(tmp_path / "log", ([(1, [1], 0, 5)], [(1, [2], 0, {"b": 1})]))
    done = applier.rewrite(log, tmp_path / "out", partial_json=True)
    assert kinds(tmp_path / "out") == ["UPDATE_ROWS"]
    assert done.ratio == 1


@pytest.mark.by_turns("compress")
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("image_kind", [None, "minimal", "noblob"])
def test_random_documents(image_kind, compress, tmp_path):
    """RW-JSON, JD-EQ: once more it does not change at all; in payloads, too."""
    dice, updates = random.Random(f"{image_kind} {compress}"), []
    rows = [(id, encode(document(dice)), 0, encode(document(dice))) for id in range(20)]
    updates.append((list(rows), list(rows)))
    for turn in range(1, 12):
        chosen = sorted(dice.sample(range(20), dice.choice([1, 2, 20])))
        after = [(id, changed(dice, rows[id][1]), turn, changed(dice, rows[id][3])) for id in chosen]
        updates.append(([rows[id] for id in chosen], after))
        for row in after:
            rows[row[0]] = row
    log = written(tmp_path / "log", *updates, compress=compress)
    applier.rewrite(log, tmp_path / "out", image=image_kind, partial_json=True)
    assert "PARTIAL_UPDATE_ROWS" in kinds(tmp_path / "out")
    assert wrong_places(tmp_path / "out" / "binlog.000001") == []
    assert changes(tmp_path / "out") == changes(log)
    applier.rewrite(tmp_path / "out", tmp_path / "again", image=image_kind, partial_json=True)
    once, twice = ((tmp_path / name / "binlog.000001").read_bytes() for name in ("out", "again"))
    assert once == twice


def changed(dice, binary):
    """A document after some random diffs."""
    for value in chain(dice, binary, 3):
        try:
            binary = wire.apply(binary, value)
        except DiffError:
            break
    return binary


def test_mariadb_has_no_diffs(tmp_path, capsys):
    """A line says so."""
    [made] = parse_statement(SQL, default_database="d", flavour="mariadb")
    with BinlogWriter(tmp_path / "binlog.000001", flavour="mariadb") as log:
        log.query("CREATE DATABASE d")
        log.query(SQL, "d")
        with log.transaction():
            log.rows(RowChanges(made.definition, after={"id": pa.array([1], pa.int32())}))
    words = ["rewrite", "--binlogs", str(tmp_path), "--output", str(tmp_path / "out"), "--partial-json"]
    assert cli.main(words) == 0
    assert "binlog.000001 gets no JSON diffs" in "".join(capsys.readouterr())
