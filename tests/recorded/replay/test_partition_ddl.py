"""Rows of partitions that the log drops, empties or exchanges: the snapshot holds what the server held."""

import pyarrow.parquet as pq
import pytest

from applier.binlog.outline.outline import OutlineTask
from applier.binlog.outline.stop import StopCondition
from applier.engine.executor import ThisProcess
from applier.errors import SchemaError
from applier.schema.table_filter import TableFilter
from tests.support.real_server import Case, differences, replayed

CASES = ["mysql-partition-ddl", "mariadb-partition-ddl", "ddl-mysql-partitions"]
MARKS = [pytest.param(name, mark, id=f"{name}@{mark.name}") for name in CASES for mark in Case(name).marks]


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name", CASES)
def test_rows_at_the_end(name, route, tmp_path):
    """AP-SNAP: RANGE, LIST, RANGE COLUMNS, KEY and LINEAR HASH; rows change places with a table, and back."""
    replayed(Case(name), tmp_path / "out", route=route)
    assert differences(tmp_path / "out", Case(name).expected()) == []


@pytest.mark.parametrize(("name", "mark"), MARKS)
def test_a_base_goes_on(name, mark, tmp_path):
    """AP-SNAP, GRP-5: the definitions in a base have the partitions; its rows are exchanged like others."""
    replayed(Case(name), tmp_path / "base", mark=mark)
    assert differences(tmp_path / "base", Case(name).expected(mark)) == []
    replayed(Case(name), tmp_path / "out", base=str(tmp_path / "base"))
    assert differences(tmp_path / "out", Case(name).expected()) == []


def test_changes_count_once(tmp_path):
    """In the report: those of the divided table there, those of the other one where its rows went."""
    result = replayed(Case("ddl-mysql-partitions"), tmp_path / "out")
    counts = {table.name: (table.inserts, table.updates, table.deletes) for table in result.tables}
    assert (counts["r"], counts["x"]) == ((11, 8, 1), (0, 0, 0))


def test_exchanged_rows_of_tables_that_only_a_base_has(tmp_path):
    """No row event of theirs is in the log that is replayed: the statement alone moves rows."""
    case = Case("mysql-partition-ddl")
    replayed(case, tmp_path / "base", mark=case.mark("removed"))
    [outline] = ThisProcess().outline([OutlineTask(str(case.binlogs[0]), None, StopCondition())], lambda *_: None)
    end = next(statement.end for statement in outline.statements if "EXCHANGE" in statement.sql)
    replayed(case, tmp_path / "out", base=str(tmp_path / "base"), stop_position=(outline.name, end))
    held = {name: sorted(row for path in (tmp_path / "out/pt" / name).glob("*.parquet")
                         for row in pq.read_table(path, partitioning=None).column("id").to_pylist()) for name in "dx"}
    assert held == {"d": [1, 4, 5, 20, 21], "x": [2, 3]}


def test_an_exchange_with_a_table_that_is_left_out_stops(tmp_path):
    """AP-FILT: rows of it would be needed; named with position and table."""
    with pytest.raises(SchemaError, match="EXCHANGE PARTITION p1 WITH TABLE x") as stopped:
        replayed(Case("mysql-partition-ddl"), tmp_path / "out", filter=TableFilter((), (("pt", "x"),)))
    assert stopped.value.table == "pt.d"
    assert stopped.value.position is not None
    assert list(tmp_path.iterdir()) == []
