"""System-versioned tables of MariaDB: a snapshot shows the rows that hold now, and keeps the others beside them."""


import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import SchemaError
from applier.jobs.replay.job import replay_with
from applier.options import ExportOptions, ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.schema.table_filter import TableFilter
from applier.snapshot import manifest
from tests.support.folders import ARCHIVES
from tests.support.real_server import Case, differences, replayed

CASES = ["mariadb-system-versioned", "mariadb-versioning-ddl"]
PLACES = [pytest.param(name, mark, id=f"{name}@{mark.name if mark else 'end'}")
          for name in CASES for mark in (*Case(name).marks, None)]


TO_THE_END = TableFilter(ignored=(("sv", "p"),))
"""Without the table whose rows of the past go in the end, no log tells which."""


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize(("name", "mark"), PLACES)
def test_what_a_select_shows(name, mark, route, tmp_path):
    """AP-SNAP, PKE: updates keep the old row, deletes end it, DELETE HISTORY takes it away; the key is the table's own
    with the row's end. DDL gives rows times, and takes them."""
    without = {} if mark is not None else {"filter": TO_THE_END}
    replayed(Case(name), tmp_path / "out", route=route, mark=mark, **without)
    assert differences(tmp_path / "out", Case(name).expected(mark), without=("sv.p",) if without else ()) == []


@pytest.mark.parametrize(("name", "mark"), [place for place in PLACES if place.values[1] is not None])
def test_a_base_goes_on(name, mark, tmp_path):
    """GRP-5: rows of the past that the log changes later are in the base."""
    replayed(Case(name), tmp_path / "base", mark=mark)
    replayed(Case(name), tmp_path / "out", base=str(tmp_path / "base"), filter=TO_THE_END)
    assert differences(tmp_path / "out", Case(name).expected(), without=("sv.p",)) == []


def test_rows_of_the_past_that_go_untold_stop_a_replay(tmp_path):
    """DROP PARTITION where partitions are filled one after the other, by how many rows the server thinks each has."""
    with pytest.raises(SchemaError, match="SYSTEM_TIME LIMIT 2: ALTER TABLE p DROP PARTITION p0") as stopped:
        replayed(Case("mariadb-versioning-ddl"), tmp_path / "out")
    assert (stopped.value.table, list(tmp_path.iterdir())) == ("sv.p", [])


def test_the_past_is_beside_the_rows_that_hold(tmp_path):
    """Under _history, with both times; a table that nothing changes takes it along."""
    case = Case("mariadb-versioning-ddl")
    replayed(case, tmp_path / "base", mark=case.mark("altered"))
    replayed(case, tmp_path / "out", base=str(tmp_path / "base"), mark=case.mark("history_gone"))
    before, after = (manifest.load(str(tmp_path / folder)) for folder in ("base", "out"))
    [kept], [carried] = before.table("sv", "c").history, after.table("sv", "c").history
    assert carried.path == kept.path
    [path] = (tmp_path / "out/_history/sv/c").glob("*.parquet")
    rows = pq.read_table(path, partitioning=None)
    assert rows.column_names == ["a", "b", "row_start", "row_end"]
    ends = rows.column("row_end").cast(pa.int64()).to_pylist()
    assert sorted(zip(rows.column("a").to_pylist(), rows.column("b").to_pylist(), ends, strict=True)) == [
        (2, 2, 1700000010222222), (2, 5, 2147483647999999), (5, 1, 2147483647999999)]
    assert len(list((tmp_path / "out/sv/c").glob("*.parquet"))) == 1


def test_the_end_of_time_of_newer_servers(tmp_path):
    """ADD SYSTEM VERSIONING, then UPDATE and DELETE on MariaDB 11.8, whose TIMESTAMPs continue to 2106: the rows that
    the statement made are found by their end."""
    log = ARCHIVES / "versioned/mariadb-11.8.000001"
    replay_with(ThisProcess(), ReplayOptions((str(log),), str(tmp_path / "out")))
    [path] = (tmp_path / "out/_history/sv/t").glob("*.parquet")
    rows = pq.read_table(path, partitioning=None).to_pylist()
    assert sorted((row["a"], row["b"], f"{row['row_end']:%Y-%m-%d %H:%M:%S.%f}") for row in rows) == [
        (1, 1, "2026-11-21 17:49:18.042734"), (1, 3, "2026-11-21 17:49:18.046318"),
        (2, 2, "2026-11-21 17:49:18.042734"), (2, 3, "2106-02-07 06:28:15.999999")]


def test_the_definition_is_kept(tmp_path):
    """_schema.sql makes the table again, without its hidden columns; the manifest has them."""
    case = Case("mariadb-versioning-ddl")
    replayed(case, tmp_path / "out", mark=case.mark("named"))
    made = {change.definition.name: change.definition
            for sql in (tmp_path / "out/_schema.sql").read_text().split(";\n") if sql.strip()
            for change in parse_statement(sql, flavour="mariadb") if hasattr(change, "definition")}
    for entry in manifest.load(str(tmp_path / "out")).tables:
        definition = entry.definition
        assert (made[entry.name].columns, made[entry.name].versioning) == (definition.columns, definition.versioning)
    assert [made[name].versioning is not None and made[name].versioning.hidden for name in "abcnm"] == [
        True, False, True, True, True]
    assert made["c"].versioning.without == ("a",)


def test_an_export_has_the_rows_that_hold_and_the_past(tmp_path):
    """Each with its times: a server that loads them shows those that hold, and the others FOR SYSTEM_TIME ALL."""
    from applier.jobs.exporting.job import export_snapshot

    case = Case("mariadb-system-versioned")
    replayed(case, tmp_path / "out")
    export_snapshot(ExportOptions(str(tmp_path / "out"), str(tmp_path / "sql")))
    [text] = [path.read_text() for path in (tmp_path / "sql/sv/imp").iterdir()]
    rows = [line.rstrip(",;").strip("()").split(",") for line in text.splitlines() if line.startswith("(")]
    held = [row[:2] for row in rows if row[-1] == "'2038-01-19 03:14:07.999999'"]
    assert held == [["1", "'again'"], ["2", "'replaced'"], ["5", "'min'"]]
    assert ["2", "'upd'", "'2023-11-14 22:13:30.222222'", "'2023-11-14 22:13:40.333333'"] in rows


@pytest.mark.parametrize("clause", [
    "s BIGINT UNSIGNED GENERATED ALWAYS AS ROW START, e BIGINT UNSIGNED GENERATED ALWAYS AS ROW END, "
    "PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING", "s DATE, e DATE, PERIOD FOR p (s, e))"])
def test_other_periods_stop_a_replay(clause):
    """Transactions' numbers as times, and periods of the application's own."""
    [change] = parse_statement(f"CREATE TABLE d.t (a INT, {clause}", flavour="mariadb")
    assert "cannot be replayed" in change.reason
