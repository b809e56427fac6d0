"""Archives that begin after their tables were made, of real servers (record_late.py): undo and history (UNDO-LATE)."""

from pathlib import Path

import pytest

import applier
import applier.binlog
from applier.errors import UnsupportedEvent

HERE = Path(__file__).parent
SCHEMA = "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, a INT, v VARCHAR(20));"
SERVERS = ["mysql", "mariadb11"]


def options(defined, folder):
    (folder / "schema.sql").write_text(SCHEMA)
    return {"define_from_log": True} if defined else {"schema": folder / "schema.sql"}


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("defined", [False, True])
def test_full_images_have_all_that_an_undo_needs(server, defined, tmp_path):
    """A table that the log's metadata define is made by no statement, so it does not prevent an undo."""
    log = HERE / server / "full" / "binlog.000001"
    undone = applier.undo(log, tmp_path / "undo.sql", start="binlog.000001:4", **options(defined, tmp_path))
    assert [(one.name, one.inserted, one.updated) for one in undone.tables] == [("d.t", 1, 2)]
    rows = applier.history(log, "d.t", **options(defined, tmp_path)).to_arrow().to_pylist()
    assert [(row["id"], row["v"], row["_change_type"]) for row in rows if row["id"] == 2] == [
        (2, "b", "base"), (2, "x", "update")]


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("defined", [False, True])
def test_minimal_images_do_not_have_the_old_values(server, defined, tmp_path):
    """Nothing has them but a base; a server has what came after."""
    log = HERE / server / "minimal" / "binlog.000001"
    with pytest.raises(UnsupportedEvent, match=r"column [av] of row .* was before.*MINIMAL or NOBLOB .*give a --base"):
        applier.undo(log, tmp_path / "undo.sql", start="binlog.000001:4", **options(defined, tmp_path))
    (tmp_path / "dump.sql").write_text(f"-- MySQL dump\n{SCHEMA}\nUSE d;\n"
                                       "INSERT INTO t VALUES (1,1,'a'),(2,2,'b'),(3,3,'c');\n")
    before = next(event for event in applier.binlog.open(str(log)) if event.name in ("PREVIOUS_GTIDS", "GTID_LIST"))
    applier.import_dump(tmp_path / "dump.sql", tmp_path / "base", gtid_set=str(before.content),
                        flavour=server.rstrip("1"))
    undone = applier.undo(log, tmp_path / "undo.sql", start="binlog.000001:4", base=tmp_path / "base")
    assert [(one.name, one.inserted, one.updated) for one in undone.tables] == [("d.t", 1, 2)]
