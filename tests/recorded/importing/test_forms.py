"""Forms of dumps: sql_modes of --compatible, text in latin1, directories of --tab and --dir, --system=all.

forms/SERVER-FORM.sql.gz or .tar.xz is what mysqldump 9.7 and mariadb-dump 10.11 and 11.8 wrote of the database d, and
forms/SERVER-FORM what a server held that loaded it. Those of --compatible do not say the tables' character sets, nor in
which one their text is: the client that loaded those in latin1 had --default-character-set=latin1.
"""

import gzip
import shutil
import tarfile
from pathlib import Path

import pytest

from applier import cli
from tests.support.real_server import differences

FORMS = Path(__file__).parent / "forms"
SAID = ("mariadb10-complete-latin1", "mariadb10-tab-latin1")
NAMES = sorted(path.name for path in FORMS.iterdir() if path.is_dir())


def form(name, folder):
    """A dump's file or directory."""
    if (packed := FORMS / f"{name}.tar.xz").exists():
        with tarfile.open(packed) as files:
            files.extractall(folder / "dump", filter="data")
        return folder / "dump"
    return FORMS / f"{name}.sql.gz"


def options(name):
    return ["--default-character-set", "latin1"] if name.endswith("latin1") and name not in SAID else []


@pytest.mark.parametrize("name", NAMES)
def test_a_dump_holds_what_a_server_makes_of_it(name, tmp_path):
    dump = form(name, tmp_path)
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out"), *options(name)]) == 0
    assert differences(tmp_path / "out", FORMS / name) == []


@pytest.mark.parametrize("name", [name for name in NAMES if options(name)])
def test_text_that_is_not_utf8(name, tmp_path, capsys):
    """Nothing says that it is latin1: the option is named, or the name of a column that has it."""
    assert cli.main(["import", str(form(name, tmp_path)), "--output", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "--default-character-set names it" in said or "has bytes that are not text" in said or \
        "the INSERT names a column" in said


def test_utf8_that_nothing_says(tmp_path, capsys):
    """It is read as such, and a note says so; not if the option says it, nor of text in ASCII."""
    dump = tmp_path / "dump.sql"
    made = "CREATE DATABASE d; CREATE TABLE d.t (a VARCHAR(9) PRIMARY KEY, b BLOB); INSERT INTO d.t VALUES "
    for number, (rows, words, notes) in enumerate([
            ("('é', 'x')", [], True), ("('é', 'x')", ["--default-character-set", "UTF8MB4"], False),
            ("('e', 'x')", [], False)]):
        dump.write_text(made + rows)
        assert cli.main(["import", str(dump), "--output", str(tmp_path / f"out{number}"), *words]) == 0
        assert ("in which character set its text is" in capsys.readouterr().out) == notes


def test_bytes_need_no_character_set(tmp_path):
    """Those of BLOBs, and of a literal that says so."""
    dump = tmp_path / "dump.sql"
    dump.write_bytes(b"CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY, b BLOB, c VARCHAR(9)) "
                     b"CHARACTER SET latin1;"
                     b"INSERT INTO d.t VALUES (1, 'x\xe9\xff', 0xe9), (2, _binary '\xff', NULL)")
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out")]) == 0


def test_a_set_that_no_server_has(tmp_path, capsys):
    assert cli.main(["import", "dump.sql", "--output", str(tmp_path / "out"), "--default-character-set", "utf9"]) == 2
    assert "utf9 is not a character set" in capsys.readouterr().err


def test_a_directory_of_tables_whose_database_nothing_says(tmp_path, capsys):
    """mysqldump --tab --skip-comments."""
    dump = form("mysql-tab", tmp_path)
    for file in dump.glob("*.sql"):
        file.write_text("".join(line for line in file.read_text().splitlines(True) if not line.startswith("-- ")))
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out")]) == 1
    assert "--database" in capsys.readouterr().err
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out"), "--database", "d"]) == 0
    assert differences(tmp_path / "out", FORMS / "mysql-tab") == []


def test_a_packed_directory_and_a_zone_that_nothing_says(tmp_path, capsys):
    dump = form("mariadb11-dir", tmp_path)
    for file in [*dump.glob("d/*.sql"), *dump.glob("d/*.txt")]:
        text = file.read_bytes().replace(b"SET TIME_ZONE='+00:00'", b"SET @x=1")
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(text))
        file.unlink()
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out")]) == 1
    assert "the dump does not name the time zone" in capsys.readouterr().err
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out"), "--system-time-zone", "UTC"]) == 0
    assert differences(tmp_path / "out", FORMS / "mariadb11-dir") == []
