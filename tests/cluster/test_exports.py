"""Exports of what real servers held: the very files that round_trip.py loaded into servers and found equal."""

import json
import subprocess

import pytest

from applier import cli
from applier.jobs.exporting.job import export_snapshot
from applier.options import ExportOptions
from applier.snapshot import manifest
from tests.recorded.exporting import round_trip
from tests.support.real_server import differences

DIGESTS = json.loads(round_trip.DIGESTS.read_text())


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory):
    """Snapshots of the sources by name, each made once."""
    made = {}

    def snapshot(name):
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name) / "snapshot"
            round_trip.make_snapshot(name, made[name])
        return made[name]

    return snapshot


@pytest.mark.by_turns("form")
@pytest.mark.parametrize("form", round_trip.FORMATS)
@pytest.mark.parametrize("name", sorted(round_trip.sources()))
def test_the_files_are_those_that_a_server_loaded(name, form, snapshots, tmp_path):
    """Every type and character set, generated and invisible columns, on MySQL and MariaDB. Where a change of the text
    is wanted: run round_trip.py against both servers, then with --record."""
    export_snapshot(ExportOptions(str(snapshots(name)), str(tmp_path / "out"), form))
    assert round_trip.digest(tmp_path / "out") == DIGESTS[f"{name}.{form}"]


@pytest.mark.parametrize("name", ["dump-mysql", "mariadb-types-text", "generated-columns-mysql"])
def test_an_export_is_a_dump(name, snapshots, tmp_path):
    """What the script gives to a client is an SQL file with definitions, rows and position: imported, it is the same
    snapshot."""
    assert cli.main(["export", str(snapshots(name)), "--output", str(tmp_path / "export")]) == 0
    dump = tmp_path / "dump.sql"
    with open(dump, "wb") as file:
        subprocess.run(["sh", str(tmp_path / "export" / "_load.sh"), "-"], stdout=file, check=True,
                       env={"PATH": "/usr/bin:/bin", "MYSQL": "cat"})
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "again")]) == 0
    expected = round_trip.sources()[name][1]
    assert differences(tmp_path / "again", expected) == []
    before, after = (manifest.load(str(path)) for path in (snapshots(name), tmp_path / "again"))
    assert (after.position.file, after.position.offset) == (before.position.file, before.position.offset)
    assert after.position.gtid_set == before.position.gtid_set and after.position.flavour == before.position.flavour
    assert [table.definition for table in after.tables] == [table.definition for table in before.tables]


@pytest.mark.by_turns("form")
@pytest.mark.parametrize("form", round_trip.FORMATS)
@pytest.mark.parametrize("name", ["mysql-types-text", "mysql-types-number-time", "mariadb-types"])
def test_the_directory_of_an_export_is_a_dump(name, form, snapshots, tmp_path):
    """As it is: INSERTs, or LOAD DATA with what decodes bytes."""
    export_snapshot(ExportOptions(str(snapshots(name)), str(tmp_path / "export"), form))
    assert cli.main(["import", str(tmp_path / "export"), "--output", str(tmp_path / "again")]) == 0
    assert differences(tmp_path / "again", round_trip.sources()[name][1]) == []


def test_a_versioned_table(snapshots, tmp_path):
    """Its rows have their times, and each file makes the server take them."""
    for form in round_trip.FORMATS:
        export_snapshot(ExportOptions(str(snapshots("mariadb-system-versioned")), str(tmp_path / form), form))
    for file in ("sql/sv/imp/0000.sql", "sql/sv/exp/0000.sql", "tsv/_load.sql"):
        assert "SET system_versioning_insert_history = 1" in (tmp_path / file).read_text()
    assert (tmp_path / "sql" / "_schema.sql").read_text().count("WITH SYSTEM VERSIONING") == 2


@pytest.mark.parametrize("engine", [["--engine", "local"], ["--engine", "spark", "--master", "local[2]"], []])
def test_engines_write_the_same(spark, engine, snapshots, tmp_path, capsys):
    """One task per file, in any engine; the engine is reported if it was not requested."""
    name = "mysql-types-text"
    assert cli.main(["export", str(snapshots(name)), "--output", str(tmp_path / "out"), *engine]) == 0
    assert round_trip.digest(tmp_path / "out") == DIGESTS[f"{name}.sql"]
    assert ("engine: local, as the work takes" in capsys.readouterr().err) == (not engine)


def test_chosen_tables(snapshots, tmp_path):
    """AP-FILT: files and definitions of these only."""
    snapshot = str(snapshots("mysql-types-number-time"))
    out = tmp_path / "out"
    assert cli.main(["export", snapshot, "--output", str(out), "--tables", "types.b*", "--format", "tsv"]) == 0
    assert [path.relative_to(out).as_posix() for path in sorted(out.rglob("*.tsv"))] == ["types/bits/0000.tsv"]
    assert (out / "_schema.sql").read_text().count("CREATE TABLE") == 1
    assert cli.main(["export", snapshot, "--output", str(tmp_path / "none"), "--tables", "types.x"]) == 2
    assert not (tmp_path / "none").exists()


def test_an_output_is_complete_or_not_there(snapshots, tmp_path, capsys):
    """A file of the snapshot that is damaged: an error that names it, and nothing else."""
    snapshot, out = tmp_path / "damaged", tmp_path / "out"
    round_trip.make_snapshot("many-files-mariadb", snapshot)
    [file, *_] = manifest.load(str(snapshot)).tables[0].files
    (snapshot / file.path).write_bytes(b"PAR1")
    assert cli.main(["export", str(snapshot), "--output", str(out)]) == 2
    assert file.path in capsys.readouterr().err.replace("\n", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["damaged"]
    out.mkdir()
    (out / "mine").touch()
    assert cli.main(["export", str(snapshots("many-files-mariadb")), "--output", str(out)]) == 2
    assert [path.name for path in out.iterdir()] == ["mine"]
