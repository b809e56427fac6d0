"""What a dump says of itself: its session, its position."""

from datetime import UTC, datetime

import pyarrow.dataset as ds
import pytest

from applier.jobs.importing.job import import_dump
from applier.jobs.importing.position import DumpPosition
from applier.jobs.importing.sql.session import DumpSession
from applier.jobs.importing.sql.spans import LiteralContext
from applier.options import ImportOptions
from applier.snapshot import manifest

UUID = "7f19961a-e517-11f1-8d67-02fc00000001"


@pytest.mark.parametrize("text, position", [
    ("-- CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='b.000001', SOURCE_LOG_POS=4824;", ("b.000001", 4824, "")),
    ("CHANGE MASTER TO MASTER_LOG_FILE='b.000001', MASTER_LOG_POS=4824", ("b.000001", 4824, "")),
    ("CHANGE MASTER TO\n  MASTER_HOST='x',\n  MASTER_LOG_FILE='b.7',\n  MASTER_LOG_POS=4;", ("b.7", 4, "")),
    (f"SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '{UUID}:1-14';", ("", 0, f"{UUID}:1-14")),
    (f"/* SET @@GLOBAL.GTID_PURGED='+{UUID}:1-3,\n{UUID}:5';*/", ("", 0, f"{UUID}:1-3:5")),
    ("-- SET GLOBAL gtid_slave_pos='0-25306-14,1-2-3';", ("", 0, "0-25306-14,1-2-3")),
    ("-- CHANGE MASTER TO MASTER_USE_GTID=slave_pos;", ("", 0, "")),
    ("INSERT INTO t VALUES ('CHANGE MASTER TO MASTER_LOG_FILE=''x'', MASTER_LOG_POS=1');", ("", 0, "")),
])
def test_positions(text, position):
    """--source-data, --master-data, --gtid, --set-gtid-purged, as statements and as comments."""
    assert DumpPosition().after(f"--\n-- Position\n--\n\n{text}\n") == DumpPosition(*position)


def test_a_session_is_set_and_put_back():
    """As dumps do it: a variable is kept in one of the user's, set, and taken from there again."""
    session = DumpSession("mysql", system_time_zone="+05:00")
    for sql in ("SET NAMES latin1", "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_BACKSLASH_ESCAPES' */",
                "/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */", "SET @@session.time_zone := '+02:00'",
                "SET @saved_cs_client = @@character_set_client", "SET character_set_client = utf8"):
        session.set(sql)
    assert session.reading == LiteralContext("utf8mb3", False, "+02:00", "mysql")
    for sql in ("SET character_set_client = @saved_cs_client", "SET SQL_MODE=@OLD_SQL_MODE, TIME_ZONE=@OLD_TIME_ZONE"):
        session.set(sql)
    assert session.reading == LiteralContext("latin1", True, "+05:00", "mysql")
    session.set("SET sql_mode = 'ANSI'")
    assert session.ansi_quotes and session.backslash
    session.set("SET sql_mode = DEFAULT, time_zone = '-01:00', character_set_client = DEFAULT, @saved = DEFAULT")
    assert not session.ansi_quotes and session.reading == LiteralContext("utf8mb4", True, "-01:00", "mysql", True)
    session.set("SET time_zone = DEFAULT")
    assert session.reading.time_zone == "+05:00"


@pytest.mark.parametrize("comment", ["/*!40101 {} */", "/*M!100101 {} */", "/*!{} */"])
def test_comments_that_a_server_runs(comment, tmp_path):
    """Plain comments are skipped; these are statements, and quoted text in them is text."""
    of_column = comment.format("COMMENT '*/;'")
    settings = [comment.format(sql) + ";\n" for sql in ("SET NAMES latin1", "SET TIME_ZONE='+02:00'")]
    (tmp_path / "dump.sql").write_text(
        "/* SET NAMES utf8mb4 */;\n-- MariaDB dump 10.19\n" + "".join(settings) + "CREATE DATABASE d;\nUSE d;\n"
        f"CREATE TABLE t (v VARCHAR(9) CHARACTER SET utf8mb4 {of_column}, at TIMESTAMP NULL);\n"
        "INSERT INTO t VALUES ('\u00e9', '2026-01-01 02:00:00');\n", encoding="latin1")
    import_dump(ImportOptions(str(tmp_path / "dump.sql"), str(tmp_path / "out")))
    [file] = manifest.load(str(tmp_path / "out")).table("d", "t").files
    [row] = ds.dataset(str(tmp_path / "out" / file.path)).to_table(columns=["v", "at"]).to_pylist()
    assert row == {"v": "\u00e9", "at": datetime(2026, 1, 1, tzinfo=UTC)}
