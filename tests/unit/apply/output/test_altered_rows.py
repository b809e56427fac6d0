"""A key that DDL gives to rows of which two have the same: a replica stops at the statement (APP-R6), in both modes.

A source's rows are what the statement found; a replica's, or those of a base that has diverged, may be others.
"""

import pyarrow as pa
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import SOURCE, BinlogWriter
from tests.support.diffs import snapshot_of
from tests.support.small_parts import rows_of

CREATE = "CREATE TABLE t (s VARCHAR(9) COLLATE utf8mb4_general_ci NOT NULL, n INT NOT NULL)"
[created] = parse_statement(CREATE, default_database="d", server_charset="utf8mb4", flavour="mysql")


def rows(words, numbers):
    return {"s": pa.array(words), "n": pa.array(numbers, pa.int32())}


@pytest.mark.parametrize("mode", ["strict", "idempotent"])
@pytest.mark.parametrize("changed_later", [False, True])
@pytest.mark.parametrize("key, value", [("n", "2"), ("s", "b"), ("s, n", None)])
def test_a_key_that_is_there_twice(tmp_path, mode, changed_later, key, value):
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query(CREATE, "d")
        with log.transaction():
            log.rows(RowChanges(created.definition, after=rows(["a", "b", "c", "B"], [1, 2, 2, 3])))
        log.query(f"ALTER TABLE t ADD PRIMARY KEY ({key})", "d")
        if changed_later:
            with log.transaction():
                log.rows(RowChanges(created.definition, after=rows(["z"], [9])))
    options = ReplayOptions((str(tmp_path),), str(tmp_path / "out"), exec_mode=mode)
    if value is None:
        replay_with(ThisProcess(), options)
        expected = [("a", 1), ("b", 2), ("B", 3), ("c", 2), ("z", 9)][:4 + changed_later]
        assert [tuple(row.values()) for row in rows_of(tmp_path / "out")["d.t"]] == expected
        return
    with pytest.raises(ReplayStopped, match="same key after this statement") as stopped:
        replay_with(ThisProcess(), options)
    error = stopped.value
    assert (error.mysql_errno, error.table, error.gtid) == (1062, "d.t", f"{SOURCE}:3")
    assert error.key == f"PRIMARY ({key}) = {value}" and error.file.endswith("binlog.000001")
    assert "--stop-position" in error.hint


def test_an_invalid_date_that_is_there_twice(tmp_path):
    """The error shows it as text, since Python's types do not have it."""
    base = snapshot_of(tmp_path / "base", "CREATE TABLE d.t (d DATE NOT NULL)", [("0000-00-00",), ("0000-00-00",)])
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query("ALTER TABLE t ADD PRIMARY KEY (d)", "d")
    options = ReplayOptions((str(tmp_path / "binlog.000001"),), str(tmp_path / "out"), base=base.uri,
                            start_position=("binlog.000001", 4))
    with pytest.raises(ReplayStopped, match="same key after this statement") as stopped:
        replay_with(ThisProcess(), options)
    assert stopped.value.key == "PRIMARY (d) = 0000-00-00"
