"""ALTER IGNORE TABLE over rows with the same keys: the rows that a MariaDB server left, or an error where its log does
not tell which those are.

Tables of the case are named OLD_NEW: the key by which the rows lay, and those that were added. COMPUTED were once
refused, too: rows that fail a CHECK, or the type JSON, go; MyISAM has its rows in the order of their arrival.
"""

import pytest

from applier.engine.executor import ThisProcess
from applier.errors import SchemaError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.table_filter import TableFilter
from tests.support.real_server import Case, differences, replayed

CASE = Case("mariadb-alter-ignore")
COMPUTED = ("ig.refused_check", "ig.refused_json",
            *(f"ig.refused_myisam_{key}" for key in ("number", "pk", "two", "unique")))
REFUSED = tuple(sorted({file.name.removesuffix(".jsonl") for file in CASE.expected().glob("ig.refused_*")}
                       - {*COMPUTED}))


@pytest.mark.by_turns("route")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_the_rows_that_stay_are_the_servers(route, tmp_path):
    """AP-VAL: the first row of a value by the order in which InnoDB keeps rows, by collation, prefix, hash or a
    generated column; what a duplicate in the clustered index takes along; rows of no partition go."""
    ignored = tuple(tuple(name.split(".")) for name in REFUSED)
    replayed(CASE, tmp_path / "out", route=route, filter=TableFilter(ignored=ignored))
    assert differences(tmp_path / "out", CASE.expected(), REFUSED) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_log_does_not_tell_is_not_guessed(name, tmp_path):
    """Rows of other engines lie where there was room for them."""
    with pytest.raises(SchemaError, match=r"IGNORE leaves is not known|numbers the rows") as refused:
        replayed(CASE, tmp_path / "out", filter=TableFilter(tables=(tuple(name.split(".")),)))
    assert (refused.value.table, refused.value.file.endswith("binlog.000001")) == (name, True)
    assert "--ignore-tables" in refused.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.by_turns("route")
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_of_several_the_first_in_the_log_is_named(route, tmp_path):
    """Whichever task has it, and in whichever order a task has its tables."""
    tables, named = [tuple(name.split(".")) for name in REFUSED], []
    while tables:
        with pytest.raises(SchemaError) as refused:
            replay_with(ThisProcess(1 + len(tables) % 2), ReplayOptions(
                tuple(map(str, CASE.binlogs)), str(tmp_path / "out"), route=route, filter=TableFilter(tuple(tables))))
        named.append((refused.value.position, refused.value.table))
        tables.remove(tuple(refused.value.table.split(".")))
    assert named == sorted(named) and len(named) == len(REFUSED) > 3
