"""Tables whose rows are somewhere else than in them, or nowhere.

archives/engines is the log of a MySQL 9.7 with BLACKHOLE and MERGE tables, and what its replica had in the end:
nothing in `b` and `blike`, (1, 9) in `t`, and in `m1` and `m2` the rows that were written to `m`.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.errors import SchemaError
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.options import ImportOptions, ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.folders import ARCHIVES

LOG = str(ARCHIVES / "engines" / "binlog.000002")
ELSEWHERE = ["MERGE", "mrg_myisam", "FEDERATED", "Spider"]


def held(folder):
    """The rows of each table."""
    return {table.full_name: sorted(tuple(row.values()) for file in table.files
                                    for row in pq.read_table(folder / file.path, partitioning=None).to_pylist())
            for table in manifest.load(str(folder)).tables}


def replayed(logs, output, ignored="", **options):
    replay_with(ThisProcess(), ReplayOptions(tuple(map(str, logs)), str(output), filter=TableFilter(
        (), parse_table_list([ignored] if ignored else [])), **options))
    return held(output)


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_blackhole_is_empty(route, tmp_path):
    """Duplicates among what it was given, and what an ALTER makes of a table with rows, and back."""
    assert replayed([LOG], tmp_path / "out", "eng.m,eng.m1,eng.m2", route=route) == {
        "eng.b": [], "eng.blike": [], "eng.t": [(1, 9)]}
    assert replayed([LOG], tmp_path / "before", stop_position=("binlog.000002", 2048), route=route) == {
        "eng.b": [], "eng.t": []}


def test_a_merge_table_is_refused(tmp_path, capsys):
    """By name, at the statement that makes it; ignored it does not stop, nor behind the place to stop."""
    code = cli.main(["replay", "--binlogs", LOG, "--output", str(tmp_path / "out")])
    error = capsys.readouterr().err
    assert code == 1 and "binlog.000002:2987" in error.replace(str(Path(LOG).parent) + "/", "") and "merge" in error
    assert "eng.m" in error and "--ignore-tables" in error and not (tmp_path / "out").exists()
    with pytest.raises(SchemaError, match="merge") as stopped:  # what it becomes by an ALTER
        replayed([LOG], tmp_path / "out", "eng.m")
    assert (stopped.value.position, stopped.value.table) == (4982, "eng.m1")


@pytest.mark.parametrize("engine", ELSEWHERE)
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_rows_elsewhere(engine, flavour, tmp_path):
    statements = [f"CREATE TABLE d.t (a INT) ENGINE={engine}", f"CREATE TABLE d.t (a INT) ENGINE='{engine}'",
                  f"CREATE TABLE d.s (a INT) ENGINE={engine}", f"ALTER TABLE d.u ENGINE {engine}",
                  f"ALTER TABLE d.u ADD b INT, ENGINE={engine}"]
    for number, statement in enumerate(statements):
        folder = tmp_path / str(number)
        folder.mkdir()
        with BinlogWriter(folder / "binlog.000001", flavour=flavour) as log:
            log.query("CREATE TABLE d.u (a INT)")
            log.query(statement)
        with pytest.raises(SchemaError, match=engine) as error:
            replayed([folder / "binlog.000001"], folder / "out")
        assert error.value.file and error.value.position
        replayed([folder / "binlog.000001"], folder / "out", "d.t,d.s,d.u")
        (folder / "dump.sql").write_text(f"CREATE DATABASE d;\nCREATE TABLE d.u (a INT);\n{statement};\n")
        with pytest.raises(SchemaError, match=engine):
            import_dump(ImportOptions(str(folder / "dump.sql"), str(folder / "base"), flavour=flavour))


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_replicas_blackhole(route, flavour, tmp_path):
    """Inserts, updates and deletes of rows that do not exist: a replica takes them, and so does a replay; a base's
    table, too, and rows that a dump has for it."""
    [made] = parse_statement("CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY, b INT)", flavour=flavour)
    table = made.definition

    def rows(*pairs):
        a, b = zip(*pairs, strict=True)
        return {"a": pa.array(a, pa.int32()), "b": pa.array(b, pa.int32())}

    with BinlogWriter(tmp_path / "binlog.000001", flavour=flavour) as log:
        for changes in (RowChanges(table, after=rows((1, 1), (1, 1))), RowChanges(table, before=rows((5, 5)),
                                                                                  after=rows((6, 6))),
                        RowChanges(table, before=rows((9, 9)))):
            with log.transaction():
                log.rows(changes)
        middle = log.position
        log.query("ALTER TABLE d.t ENGINE=InnoDB")
        with log.transaction():
            log.rows(RowChanges(table, after=rows((7, 7))))
    (tmp_path / "dump.sql").write_text("CREATE DATABASE d;\nCREATE TABLE d.t (a INT NOT NULL PRIMARY KEY, b INT) "
                                       "ENGINE=BLACKHOLE;\nINSERT INTO d.t VALUES (1,1),(1,2);\n")
    import_dump(ImportOptions(str(tmp_path / "dump.sql"), str(tmp_path / "base"), flavour=flavour))
    assert held(tmp_path / "base") == {"d.t": []}
    (tmp_path / "rows").mkdir()
    pq.write_table(pa.table(rows((1, 1), (1, 2))), tmp_path / "rows" / "d.t.parquet")
    import_dump(ImportOptions(str(tmp_path / "rows"), str(tmp_path / "other"), flavour=flavour,
                              schema=str(tmp_path / "dump.sql")))
    assert held(tmp_path / "other") == {"d.t": []}
    logs = [tmp_path / "binlog.000001"]
    for mode in ("strict", "idempotent"):
        options = {"base": str(tmp_path / "base"), "route": route, "exec_mode": mode}
        assert replayed(logs, tmp_path / f"all-{mode}", **options) == {"d.t": [(7, 7)]}
        assert replayed(logs, tmp_path / f"then-{mode}", stop_position=("binlog.000001", middle),
                        **options) == {"d.t": []}
