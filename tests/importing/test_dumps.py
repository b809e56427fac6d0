"""Dumps of real servers with all types, by several options: what is imported is what a server holds that loads them.

dumps/SERVER/ has what mysqldump 9.7 and mariadb-dump 10.11 wrote of tables with all types, character
sets and generated columns, and in expected/ what the server held after it had loaded `plain`: a dump keeps six digits
of a FLOAT. The format is that of recorded cases, see real_server.
"""

from pathlib import Path

import pytest
from real_server import differences

from applier import cli

DUMPS = Path(__file__).parent / "dumps"


@pytest.mark.parametrize("dump", sorted(DUMPS.glob("*/*.sql.gz")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_dump_holds_what_a_server_makes_of_it(dump, tmp_path):
    """All types; raw and hexadecimal bytes, INSERT, REPLACE and INSERT IGNORE, lists of columns, names in quotes."""
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out")]) == 0
    assert differences(tmp_path / "out", dump.parent / "expected") == []
