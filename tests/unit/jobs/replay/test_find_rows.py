"""Rows of one event that find what the rows before them made (FIND-ROWS), by every kind of key."""

import itertools

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import UnsupportedEvent
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter

KEYS = {"none": "", "plain": ", KEY (a)", "nullable unique": ", UNIQUE KEY (a)", "plain over both": ", KEY (k, a)",
        "unique": ", UNIQUE KEY (k)", "primary": ", PRIMARY KEY (k)", "prefix": ", KEY (s(1), a)"}


def images(*rows):
    return {name: pa.array(values, kind) for name, values, kind in zip(
        ("k", "a", "s"), zip(*rows, strict=True), (pa.int32(), pa.int32(), pa.string()), strict=True)}


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("key", KEYS)
def test_bug_105802(key, flavour, route, tmp_path):
    """INSERT INTO t VALUES (1, 0, 's'), (1, 0, 's'), (1, 0, 's') ON DUPLICATE KEY UPDATE a = a - 1, as a source with a
    primary key logs it: one event, in which the second row's before-image is the first one's after-image.

    On tables with a key that is not unique MySQL's hash scan looks for each key value once, in ascending order: 3 and 4
    before anything has made them of 5, and stops with 1032, as MySQL 9.7.4 did with the keys on `a` here and not with
    the others. MariaDB 10.11 has no hash scan, and ends with 2; so does find_row of WL#5092.
    """
    (tmp_path / "replica.sql").write_text(
        f"CREATE TABLE d.t (k INT NOT NULL, a INT, s VARCHAR(4){KEYS[key]}) CHARSET utf8mb4")
    [logged] = parse_statement("CREATE TABLE d.t (k INT PRIMARY KEY, a INT, s VARCHAR(4)) CHARSET utf8mb4",
                               flavour=flavour)
    with BinlogWriter(tmp_path / "binlog.000001", flavour=flavour) as log:
        for rows in ([None, images((1, 5, "s"), (2, 9, "s"))],
                     [images((1, 5, "s"), (1, 4, "s"), (1, 3, "s")), images((1, 4, "s"), (1, 3, "s"), (1, 2, "s"))]):
            with log.transaction():
                log.rows(RowChanges(logged.definition, *rows))
    replay_with(ThisProcess(), ReplayOptions((str(tmp_path / "binlog.000001"),), str(tmp_path / "out"), route=route,
                                             schema=str(tmp_path / "replica.sql")))
    [file] = (tmp_path / "out/d/t").iterdir()
    rows = [tuple(row.values()) for row in pq.read_table(file).to_pylist()]
    assert sorted(rows) == [(1, 2, "s"), (2, 9, "s")]


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
@pytest.mark.parametrize(("gone", "left"), [(0.0, [-0.0]), (-0.0, [0.0])])
def test_minus_zero_is_another_row(gone, left, kind, route, tmp_path):
    """FIND: a MySQL 9.7 replica compares the bytes of a before-image with those of the row, in which the two differ."""
    sql = f"CREATE TABLE d.t (k INT, v {kind}, UNIQUE KEY (k))"
    number = pa.float32() if kind == "FLOAT" else pa.float64()
    [table] = parse_statement(sql)

    def rows(*values):
        return {"k": pa.nulls(len(values), pa.int32()), "v": pa.array(values, number)}

    (tmp_path / "replica.sql").write_text(sql)
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        for images in ([None, rows(0.0, -0.0)], [rows(gone), None]):
            with log.transaction():
                log.rows(RowChanges(table.definition, *images))
    replay_with(ThisProcess(), ReplayOptions((str(tmp_path / "binlog.000001"),), str(tmp_path / "out"), route=route,
                                             schema=str(tmp_path / "replica.sql")))
    assert list(map(str, pq.read_table(tmp_path / "out/d/t").column("v").to_pylist())) == list(map(str, left))


def test_more_kinds_of_before_images_than_can_be_numbered(tmp_path):
    """Each set of columns that rows are searched by is an index: a log that has one event of each kind is refused."""
    names = [f"c{number}" for number in range(9)]
    sql = f"CREATE TABLE d.t ({', '.join(f'{name} INT' for name in names)})"
    [table] = parse_statement(sql)
    (tmp_path / "replica.sql").write_text(sql)
    kinds = [kind for size in range(1, 10) for kind in itertools.combinations(names, size)][:300]

    def rows(columns, count):
        return {name: pa.array([7] * count, pa.int32()) for name in columns}

    with BinlogWriter(tmp_path / "binlog.000001") as log, log.transaction():
        log.rows(RowChanges(table.definition, None, rows(names, len(kinds))))
        for kind in kinds:
            log.rows(RowChanges(table.definition, rows(kind, 1), None))
    with pytest.raises(UnsupportedEvent, match="by 254 different sets of columns") as refused:
        replay_with(ThisProcess(), ReplayOptions((str(tmp_path / "binlog.000001"),), str(tmp_path / "out"),
                                                 schema=str(tmp_path / "replica.sql")))
    assert refused.value.file.endswith("binlog.000001") and refused.value.position
