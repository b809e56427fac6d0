"""Warnings of probable typing errors in options; the replay is not changed."""

import pyarrow as pa
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import UsageError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.small_logs import commit, insert, new_log


@pytest.fixture
def log(tmp_path):
    with new_log(tmp_path) as log:
        commit(log, insert([(1, 1, "a")]))
    return log


def notes(log, tmp_path, **options):
    return notes_of(log.path, tmp_path, **options)


def notes_of(path, tmp_path, **options):
    return replay_with(ThisProcess(), ReplayOptions((str(path),), str(tmp_path / "out"), **options)).notes


@pytest.mark.parametrize("tables, told", [
    ("shop.item", []), ("shop", []), ("sh%", []),
    ("shop,shop.item,crm.*,Shop.item", ["--tables crm.*: ", "--tables Shop.item: "])])
def test_names_of_no_table_are_told(tables, told, log, tmp_path):
    """AP-FILT: not an error, as the table may be made by a later log."""
    found = notes(log, tmp_path, filter=TableFilter(parse_table_list([tables])))
    assert [note[:note.index("no such")] for note in found] == told


def test_an_empty_snapshot_is_not_made_of_wrong_names(log, tmp_path):
    with pytest.raises(UsageError, match=r"matches --tables shop\.items, crm") as error:
        notes(log, tmp_path, filter=TableFilter(parse_table_list(["shop.items,crm"])))
    assert error.value.exit_code == 2 and not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind, options, schema, told", [
    ("TEXT", "", None, ["utf8mb4"]), ("TEXT", "", "CREATE DATABASE m CHARACTER SET latin1;", []),
    ("TEXT", " CHARSET latin1", None, []), ("TEXT CHARACTER SET latin1", "", None, []), ("INT", "", None, [])])
def test_a_character_set_that_only_the_database_has_is_told(kind, options, schema, told, tmp_path):
    """A MariaDB server logs it neither with the rows nor with CREATE TABLE: text is read in the server's."""
    create, path, given = f"CREATE TABLE m.t (v {kind}){options}", tmp_path / "binlog.000001", tmp_path / "schema.sql"
    [created] = parse_statement(create, flavour="mariadb")
    given.write_text(schema or "")
    value = pa.array([65], pa.int32()) if kind == "INT" else pa.array([b"A"])
    with BinlogWriter(path, flavour="mariadb") as writer:
        writer.query(create, "m")
        with writer.transaction():
            writer.rows(RowChanges(created.definition, None, {"v": value}))
    found = notes_of(path, tmp_path, schema=str(given))
    assert [note[:note.index(",")] for note in found] == [f"m.t: its text is read as {word}" for word in told]
