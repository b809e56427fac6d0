"""Documents of complete changes and histories after each of many diffs."""

import json

import pyarrow as pa
import pytest

import applier
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from jsondiff import apply
from jsondiff.diff import Diff, Operation
from jsondiff.encode import encode
from jsondiff.path import parse
from jsondiff.wire import encode as encode_diffs

CREATE = "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, j JSON)"
UPDATES = 300


@pytest.fixture
def hot(tmp_path):
    """A log of two rows whose documents are changed in turn, and a column between."""
    [created] = parse_statement(CREATE, flavour="mysql")
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query(CREATE, "d")
        ids = pa.array([1, 2], pa.int32())
        with log.transaction():
            log.rows(RowChanges(created.definition, after={"id": ids, "n": ids, "j": pa.array(
                [encode({"a": -1})] * 2, pa.binary())}))
        for number in range(UPDATES):
            row = pa.array([1 + number % 2], pa.int32())
            diff = encode_diffs([Diff(Operation.REPLACE, parse("$.a"), number)])
            with log.transaction():
                log.rows(RowChanges(created.definition, before={"id": row}, after={"j": pa.array([diff])},
                                    diffs=("j",)))
                log.rows(RowChanges(created.definition, before={"id": row}, after={"n": row}))
    return str(tmp_path / "binlog.000001")


@pytest.fixture
def applied(monkeypatch):
    """Return how many diffs were applied."""
    counts = []

    def counting(documents, diffs, *more, **options):
        counts.append(len(diffs))
        return real(documents, diffs, *more, **options)

    real = apply.apply_diffs
    monkeypatch.setattr(apply, "apply_diffs", counting)
    return counts


def test_complete_changes_have_each_state(hot, applied):
    """JD-*: a document is what the one before it becomes, so each diff is applied once, not once for each state."""
    changes = applier.changes(hot, "d.t", complete=True).to_arrow().to_pylist()
    for key in (1, 2):
        states = [json.loads(row["j"])["a"] for row in changes
                  if row["id"] == key and row["_change_type"] in ("insert", "update_postimage")]
        assert states == [-1, *(number for number in range(key - 1, UPDATES, 2) for _ in range(2))]
    assert sum(applied) < 4 * UPDATES  # a window begins with what came before it


def test_histories_have_each_state(hot, applied):
    versions = applier.history(hot, "d.t").to_arrow().to_pylist()
    for key in (1, 2):
        states = [json.loads(row["j"])["a"] for row in versions if row["id"] == key]
        assert states == [-1, *(number for number in range(key - 1, UPDATES, 2) for _ in range(2))]
    assert sum(applied) == UPDATES
