"""Dumps of real servers with all types, by several options: what is imported is what a server holds that loads them.

dumps/SERVER/ has what mysqldump 9.7 and mariadb-dump 10.11 wrote of tables with all types, character
sets and generated columns, and in expected/ what the server held after it had loaded `plain`: a dump keeps six digits
of a FLOAT. The format is that of recorded cases, see real_server.
"""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from applier import cli
from tests.support.real_server import differences

DUMPS = Path(__file__).parent / "dumps"
WITHOUT_ZONE = "complete-ignore.sql.gz"  # with --skip-tz-utc, of servers at UTC


@pytest.mark.parametrize("dump", sorted(DUMPS.glob("*/*.sql.gz")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_dump_holds_what_a_server_makes_of_it(dump, tmp_path):
    """All types; raw and hexadecimal bytes, INSERT, REPLACE and INSERT IGNORE, lists of columns, names in quotes."""
    zone = ["--system-time-zone", "+00:00"] if dump.name == WITHOUT_ZONE else []
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out"), *zone]) == 0
    assert differences(tmp_path / "out", dump.parent / "expected") == []


def test_times_of_a_zone_that_nobody_names(tmp_path, capsys):
    """mysqldump --skip-tz-utc: the server's clock counts."""
    dump = DUMPS / "mysql" / WITHOUT_ZONE
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out")]) == 1
    assert "the dump does not name the time zone" in (error := capsys.readouterr().err)
    assert "line" in error and "--system-time-zone" in error and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("zone, text", [("+02:00", "2026-07-01 10:00:00"), ("Europe/Rome", "2026-07-01 10:00:00"),
                                          ("-03:30", "2026-07-01 15:30:00")])
def test_times_of_the_zone_that_is_said(zone, text, tmp_path):
    """Of statements that set none, or SYSTEM; others know theirs. Zero dates are of no zone."""
    dump = tmp_path / "dump.sql"
    dump.write_text("CREATE DATABASE d; USE d; CREATE TABLE t (a INT PRIMARY KEY, s TIMESTAMP NULL);\n"
                    "INSERT INTO t VALUES (1, '2026-07-01 12:00:00'), (2, NULL), (3, '0000-00-00 00:00:00');\n"
                    "SET time_zone = '+01:00'; INSERT INTO t VALUES (4, '2026-07-01 12:00:00');\n"
                    "SET time_zone = 'SYSTEM'; INSERT INTO t VALUES (5, '2026-07-01 12:00:00');\n")
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out"), "--system-time-zone", zone]) == 0
    found = pq.read_table(tmp_path / "out" / "d" / "t").column("s").to_pylist()
    assert [value and f"{value:%F %T}" for value in found] == [text, None, None, "2026-07-01 11:00:00", text]
