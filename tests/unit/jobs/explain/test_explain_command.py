"""`applier explain` on logs of real servers."""

import gzip

import pyarrow as pa
import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.folders import CASES


def explained(capsys, *arguments):
    """Exit code, and the lines by table."""
    code = cli.main(["explain", *map(str, arguments)])
    shown = capsys.readouterr()
    tables, lines = {}, []
    for line in shown.out.splitlines():
        if not line.startswith(" "):
            lines = tables.setdefault(line.partition(":")[0].split(" since ")[0], [])
        lines.append(line.strip())
    return code, tables, shown.err


def binlogs(case):
    return sorted((CASES / case).glob("binlog.0*"))


def test_minimal_images_of_mysql(capsys):
    """FIND, PKE: keys, plain keys and tables without one, by images of all three kinds."""
    code, tables, _ = explained(capsys, "--binlogs", *binlogs("row-image-minimal"))
    assert code == 0
    assert tables["img.pk"][0].startswith("img.pk since binlog.000001:")
    assert tables["img.pk"][1] == "only id (81 % of 16 samples): PRIMARY; reads one row"
    assert tables["img.k"][1:3] == [
        "all columns (100 % of 4 samples): k; reads each row with the same key values",
        "because: key k (k); it is not unique, so the rest of the before-image is compared"]
    assert "all columns (100 % of 6 samples): comparing rows; reads the whole table" in tables["img.nokey"]
    assert "warning: no key tells one row from another: the whole table is one unit of work" in tables["img.nokey"]


def test_only_the_tables_that_are_asked_for(capsys):
    _, tables, _ = explained(capsys, "--binlogs", *binlogs("row-image-minimal"), "--tables", "img.pk,img.k")
    assert sorted(tables) == ["img.k", "img.pk"]
    _, tables, _ = explained(capsys, "--binlogs", *binlogs("row-image-minimal"), "--ignore-tables", "img")
    assert list(tables) == ["the log changes no rows of these tables"]


@pytest.fixture
def log_of_a_source(tmp_path):
    """A log of a table with the key (id), made before it; images are minimal."""
    [change] = parse_statement("CREATE TABLE d.t (id INT PRIMARY KEY, a INT, b INT)", server_charset="utf8mb4")
    one = pa.array([1], pa.int32())
    with BinlogWriter(str(tmp_path / "binlog.000001")) as log:
        with log.transaction():
            log.rows(RowChanges(change.definition, after={"id": one, "a": one, "b": one}))
        with log.transaction():
            log.rows(RowChanges(change.definition, before={"id": one}, after={"a": one}))
    return tmp_path / "binlog.000001"


def test_a_replica_with_another_key(log_of_a_source, tmp_path, capsys):
    """IDX-R1: the before-image has nothing for the replica's key; another row may match."""
    schema = tmp_path / "replica.sql"
    schema.write_text("CREATE DATABASE d; CREATE TABLE d.t (id INT, a INT PRIMARY KEY, b INT);")
    code, tables, _ = explained(capsys, "--binlogs", log_of_a_source, "--schema", schema)
    assert (code, tables["d.t"][1:]) == (0, [
        "only id (100 % of 1 samples): comparing rows; reads the whole table",
        "because: no key can be used: primary key needs a, which the before-image lacks",
        "warning: ambiguous: rows that are equal in id may differ in a, b; the first in the table's order is taken",
        "duplicates are looked for in: PRIMARY (a)"])


def test_what_a_replay_would_refuse_is_refused(log_of_a_source, tmp_path, capsys):
    code, tables, error = explained(capsys, "--binlogs", log_of_a_source)
    assert (code, tables) == (1, {}) and "a table that has no definition" in error
    missing = tmp_path / "none.sql"
    code, _, error = explained(capsys, "--binlogs", log_of_a_source, "--schema", missing)
    assert code == 2 and "the file cannot be read: no such file or directory (at " in error
    missing.write_text("CREATE SOMETHING;")
    code, _, error = explained(capsys, "--binlogs", log_of_a_source, "--schema", missing)
    assert code == 1 and "--stop-position" not in error
    assert "in the file of --schema: CREATE of an unknown object" in error


def test_tables_that_the_log_defines(tmp_path, capsys):
    """As a replay with the option would have them: columns and primary key are the log's."""
    log = tmp_path / "binlog.000001"
    log.write_bytes(gzip.decompress((CASES.parent / "plan" / "metadata" / "mysql.gz").read_bytes()))
    code, _, error = explained(capsys, "--binlogs", log)
    assert code == 1 and "--define-from-log" in error
    code, tables, _ = explained(capsys, "--binlogs", log, "--define-from-log")
    assert code == 0 and any("PRIMARY" in line for lines in tables.values() for line in lines)


def test_from_a_base(log_of_a_source, tmp_path, capsys):
    """Definitions of the base count, and only the log after it."""
    schema, base = tmp_path / "s.sql", tmp_path / "base"
    schema.write_text("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, a INT, b INT);")
    replay_with(ThisProcess(), ReplayOptions((str(log_of_a_source),), str(base), schema=str(schema)))
    code, tables, _ = explained(capsys, "--binlogs", log_of_a_source, "--base", base)
    assert code == 0 and list(tables) == ["the log changes no rows of these tables"]


def test_on_a_terminal_there_is_a_table(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.main(["explain", "--binlogs", *map(str, binlogs("row-image-minimal")), "--tables", "img.k"]) == 0
    shown = capsys.readouterr().out
    assert "before-images" in shown and "each row with the same key values" in shown


def test_how_definitions_came_about(capsys):
    """EV-CTX: where, by which statement, and what changed, also where that is only plain keys or a name."""
    code, tables, _ = explained(capsys, "--binlogs", *binlogs("ddl-mysql"))
    assert code == 0
    steps = [line for lines in tables.values() for line in lines]
    for part in ("ALTER TABLE", "RENAME TABLE", "+ KEY", "becomes", "is called", "it is dropped", " with "):
        assert any(part in line for line in steps), part
    places = [line for line in steps if line.startswith("binlog.000001:")]
    assert len(places) > 20
