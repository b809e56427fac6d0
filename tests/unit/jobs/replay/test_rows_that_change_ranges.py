"""Updates that move rows to another key range and need what the row was: the ranges are then one unit."""

import json

import pyarrow as pa
import pytest

from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from jsondiff import wire
from jsondiff.diff import Diff, Operation
from jsondiff.encode import encode
from jsondiff.path import parse
from tests.support.small_parts import SmallParts, rows_of

CREATE = "CREATE TABLE d.t (id INT NOT NULL PRIMARY KEY, j JSON, n INT)"
[_created] = parse_statement(CREATE, flavour="mysql")
DIFF = wire.encode([Diff(Operation.REPLACE, parse("$.a"), "moved")])
BLOCK, BLOCKS = 10, 30


def images(keys, documents, names="id j n"):
    columns = {"id": pa.array(keys, pa.int32()), "j": pa.array(documents, pa.binary()), "n": pa.array(keys, pa.int32())}
    return {name: columns[name] for name in names.split()}


def whole(keys):
    return images(keys, [encode({"a": key, "b": key}) for key in keys])


MOVES = {  # the change that moves rows, what it makes of a document, and whether all is one unit
    "full images": (lambda old, new: RowChanges(_created.definition, whole(old), whole(new)), None, False),
    "a diff in full images": (lambda old, new: RowChanges(
        _created.definition, whole(old), images(new, [DIFF] * len(new)), diffs=("j",)), "moved", True),
    "partial images": (lambda old, new: RowChanges(
        _created.definition, images(old, [b""] * len(old), "id"), images(new, [b""] * len(new), "id n")), "old", True)}


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("move", MOVES)
def test_rows_that_move_keep_what_the_images_lack(move, route, tmp_path):
    """DEF-R2, JD-READ."""
    change, became, single = MOVES[move]
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query(CREATE, "d")
        for start in range(0, BLOCK * BLOCKS, BLOCK):
            with log.transaction():
                log.rows(RowChanges(_created.definition, after=whole(range(start, start + BLOCK))))
        old, new = [3, 151, 299], [5003, 1, 160]
        with log.transaction():
            log.rows(RowChanges(_created.definition, before=whole([1, 160])))
        with log.transaction():
            log.rows(change(old, new))
    executor = SmallParts(2, 150, 8192, 300)
    with executor.sizes():
        [table] = replay_with(executor, ReplayOptions((str(log.path),), str(tmp_path / "out"), route=route)).tables
    assert table.ranges > 9 and (table.units == 1) == single and bool(table.tied) == single
    [rows] = rows_of(tmp_path / "out").values()
    found = {row["id"]: (json.loads(row["j"]), row["n"]) for row in rows}
    assert len(rows) == len(found) == BLOCK * BLOCKS - 2
    for was, key in zip(old, new, strict=True):
        first = {None: key, "old": was}.get(became, became)
        assert found[key] == ({"a": first, "b": key if became is None else was}, key)
    assert not {3, 151, 299} & found.keys()
