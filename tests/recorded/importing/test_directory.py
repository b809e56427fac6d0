"""Dumps that are directories: mydumper's (recorded), MySQL Shell's (made after its documentation)."""

import shutil
import tarfile
from pathlib import Path

import pyarrow as pa
import pytest

import applier
from applier import cli
from applier.jobs.importing.job import import_dump
from applier.jobs.importing.position import of_metadata
from applier.options import ImportOptions
from applier.snapshot import manifest
from tests.recorded.importing.test_import_job import rows_of
from tests.support.real_server import differences
from tests.support.shell_dump import make_shell_dump

DUMPS = Path(__file__).parent / "dumps"
# mydumper 0.10 selects *: invisible columns are not in what it writes.
NOT_DUMPED = {"mariadb": ("gc2_kept.inv",), "mysql": ("gc4_kept.inv", "gc4_kept.gipk", "gc4_kept.gipk_like",
                                                      "gc4_kept.gipk_sel", "types2_kept.docs")}


@pytest.mark.parametrize("server, position, gtid_set", [
    ("mariadb", "binlog.000064:239228", "0-33711-702"),
    ("mysql", "an unknown binlog position", "")])  # MySQL 9 has no SHOW MASTER STATUS, which mydumper 0.10 asks for
def test_mydumper(server, position, gtid_set, tmp_path):
    """Every type, tables in several files, STORED generated columns left out: recorded of real servers."""
    with tarfile.open(DUMPS / server / "mydumper.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    [dump] = tmp_path.iterdir()
    out = tmp_path / "out"
    assert cli.main(["import", str(dump), "--output", str(out)]) == 0
    assert [line for line in differences(out, DUMPS / server / "expected", NOT_DUMPED[server])
            if not line.startswith(NOT_DUMPED[server])] == []
    stands = manifest.load(str(out)).position
    assert (str(stands), stands.gtid_set) == (position, gtid_set)


@pytest.fixture(scope="module", params=["mariadb", "mysql"])
def of_one_server(request, tmp_path_factory):
    """Dumps of one server, at one time: of mydumper 1.0.1 (plain, gz, zst, load_data, csv), and of the server's own
    program (reference.sql), which the snapshot is of. Names with dots and backticks, a view, bytes of all kinds in
    text."""
    folder = tmp_path_factory.mktemp(request.param)
    with tarfile.open(DUMPS / request.param / "mydumper-1.0.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    applier.import_dump(folder / "reference.sql", folder / "reference")
    return folder, request.param


@pytest.mark.parametrize("form", ["plain", "gz", "zst", "load_data", "csv"])
def test_new_mydumper(form, of_one_server, tmp_path):
    """Its form since 1.0: mydumper_N in names of files, _binary "…", files of rows; nothing instead of a view."""
    folder, server = of_one_server
    made = applier.import_dump(folder / form, tmp_path / "out").snapshot
    assert applier.diff(folder / "reference", made).same
    assert {"shop.weird.table-1", "shop.mydumper_7", "shop.back`tick", "odd-db.x.t"} < set(made.tables)
    reference = applier.Snapshot(folder / "reference").position
    # MySQL 9 has no SHOW MASTER STATUS, which it asks for
    expected = (str(reference), reference.gtid_set) if server == "mariadb" else ("an unknown binlog position", "")
    assert (str(made.position), made.position.gtid_set) == expected


def test_names_of_databases_that_mydumper_does_not_say(of_one_server, tmp_path, capsys):
    """Without -schema-create.sql, mydumper_0 is any database; a position that is unknown is said with its remedy."""
    folder, server = of_one_server
    shutil.copytree(folder / "plain", tmp_path / "dump")
    (tmp_path / "dump" / "mydumper_0-schema-create.sql").unlink()
    arguments = ["import", str(tmp_path / "dump"), "--output", str(tmp_path / "out")]
    assert cli.main(arguments) == 1 and "--database" in capsys.readouterr().err
    assert cli.main([*arguments, "--database", "odd-db.x"]) == 0
    assert "odd-db.x.t" in applier.Snapshot(tmp_path / "out").tables
    if server == "mysql":
        assert "--position or --gtid-set names it" in capsys.readouterr().out
    shutil.copy(tmp_path / "dump" / "mydumper_0.t-schema.sql", tmp_path / "dump" / "mydumper_9.u-schema.sql")
    assert cli.main([*arguments[:-1], str(tmp_path / "more"), "--database", "x"]) == 2
    assert "does not say which databases" in capsys.readouterr().err


@pytest.mark.parametrize("text, file, offset, gtid_set", [
    ("Started dump at: x\nSHOW MASTER STATUS:\n\tLog: bin.000003\n\tPos: 42\n\tGTID:0-1-5\n\nSHOW SLAVE STATUS:\n"
     "\tHost: h\n\tLog: other.000009\n\tPos: 9\n\tGTID:0-2-7\n", "bin.000003", 42, "0-1-5"),
    ("SHOW MASTER STATUS:\n\tLog: bin.000003\n\tPos: 42\n\tGTID:\n\nFinished dump at: x\n", "bin.000003", 42, ""),
    ("[config]\nquote-character = BACKTICK\n\n[source]\nFile = bin.000003\nPosition = 42\nExecuted_Gtid_Set = "
     "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-100,\n4e11fa47-71ca-11e1-9e33-c80aa9429562:1-3\n\n[`a`.`b`]\nrows = 2\n",
     "bin.000003", 42, "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-100,4e11fa47-71ca-11e1-9e33-c80aa9429562:1-3"),
    ('[source]\n# executed_gtid_set = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-100"\n# SOURCE_LOG_FILE = "bin.000003"\n'
     '# SOURCE_LOG_POS = 42\n\n[replication]\n# SOURCE_LOG_FILE = "x.1"\n', "bin.000003", 42,
     "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-100"),
    ("[config]\nquote-character = BACKTICK\n", "", 0, "")])
def test_metadata_of_mydumper(text, file, offset, gtid_set):
    """AP-SNAP: as its versions write where the dump was made; never a replica's own place in its source's log."""
    position = of_metadata(text)
    assert (position.file, position.offset, position.gtid_set.replace("\n", "")) == (file, offset, gtid_set)


def test_mydumper_with_load_data(tmp_path):
    """--load-data: rows in .dat files beside statements, escaped by mysql_real_escape_string, each column in its own
    character set; JSON by way of a variable, or in an INSERT by way of CONVERT."""
    dump = tmp_path / "dump"
    dump.mkdir()
    (dump / "metadata").write_text("[source]\nFile = b.000001\nPosition = 4\n")
    (dump / "d-schema-create.sql").write_text("CREATE DATABASE /*!32312 IF NOT EXISTS*/ `d`;\n")
    (dump / "d.t-schema.sql").write_text(
        "CREATE TABLE `t` (`id` int PRIMARY KEY, `l` varchar(9) CHARACTER SET latin1, `u` text CHARACTER SET utf8mb4, "
        "`b` blob, `n` bit(9), `j` json, `f` decimal(5,2));\n")
    (dump / "d.t.00000.sql").write_text(
        "/*!40101 SET NAMES binary*/;\nLOAD DATA LOCAL INFILE 'd.t.00000.dat' REPLACE INTO TABLE `t` CHARACTER SET "
        "binary FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES STARTING BY '' TERMINATED BY '\\n' "
        "(`id`,`l`,`u`,`b`,`n`,@j,`f`)SET `j`=CONVERT(@j USING UTF8MB4);\n")
    rows = [b"2\t\xe9\\'\\\\\t\xc3\xa9\\n\t\\0\xff\\\t\x01\t\\0\\t\t{\\\"a\\\": [1]}\t1.50",
            b"1\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N"]
    (dump / "d.t.00000.dat.zst").write_bytes(pa.compress(b"\n".join(rows) + b"\n", "zstd", asbytes=True))
    (dump / "d.t.00001.sql").write_text(
        "/*!40101 SET NAMES binary*/;\nINSERT INTO `t` VALUES(3,\"a\",\"\",\"\",0,CONVERT(\"{\\\"b\\\": 2}\" USING "
        "UTF8MB4),0.00)\n,(4,'','','',1,NULL,NULL);\n")
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out")]) == 0
    assert [(*row[:6], None if row[6] is None else str(row[6])) for row in rows_of(tmp_path / "out", "d", "t")] == [
        (1, None, None, None, None, None, None), (2, "é'\\", "é\n", b"\x00\xff\t\x01", 9, '{"a": [1]}', "1.50"),
        (3, "a", "", b"", 0, '{"b": 2}', "0.00"), (4, "", "", b"", 1, None, None)]


@pytest.mark.parametrize("decode", ["FROM_BASE64", "UNHEX"])
def test_mysql_shell(decode, tmp_path):
    """Every type of MySQL's; bytes, BIT, geometries and vectors encoded; the position of @.json."""
    first = tmp_path / "first"
    import_dump(ImportOptions(str(DUMPS / "mysql" / "plain.sql.gz"), str(first), ("binlog.000007", 1234),
                              "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-100"))
    make_shell_dump(first, tmp_path / "dump", decode)
    out = tmp_path / "out"
    assert cli.main(["import", str(tmp_path / "dump"), "--output", str(out)]) == 0
    assert differences(out, DUMPS / "mysql" / "expected") == []
    assert manifest.load(str(out)).position == manifest.load(str(first)).position


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
@pytest.mark.parametrize("dialect", ["default", "csv", "csv-unix", "tsv"])
def test_forms_of_mysql_shell(compression, dialect, tmp_path):
    """Its compressions, and its dialects: which bytes end and enclose fields is in each table's JSON."""
    sql = ("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(40), b VARBINARY(9), j JSON);"
           "INSERT INTO d.t VALUES (1, 'a,\"b\"\\t\\r\\n\\\\', X'002C22', '{\"a\": [1, 2]}'), (2, NULL, NULL, NULL), "
           "(3, '', '', '[]'), (4, '\\\\N', 'NULL', 'null'), (5, 'é', X'0A', '\"\"');")
    (tmp_path / "dump.sql").write_text(sql)
    first = applier.import_dump(tmp_path / "dump.sql", tmp_path / "first").snapshot
    make_shell_dump(tmp_path / "first", tmp_path / "dump", compression=compression, dialect=dialect)
    made = applier.import_dump(tmp_path / "dump", tmp_path / "out").snapshot
    assert made.tables["d.t"].to_arrow().equals(first.tables["d.t"].to_arrow())


@pytest.mark.parametrize("missing, says", [
    ("@.done.json", "not complete"), ("d@t@0.tsv.zst", "missing"), ("d@t@@1.tsv.zst", "missing"),
    ("d@t.json", "cannot be read")])
def test_a_dump_of_mysql_shell_that_is_not_complete(missing, says, tmp_path, capsys):
    """Exit code 2, and nothing is published."""
    (tmp_path / "dump.sql").write_text("CREATE DATABASE d; CREATE TABLE d.t (a INT); INSERT INTO d.t VALUES (1), (2);")
    import_dump(ImportOptions(str(tmp_path / "dump.sql"), str(tmp_path / "first")))
    make_shell_dump(tmp_path / "first", tmp_path / "dump")
    (tmp_path / "dump" / missing).unlink()
    assert cli.main(["import", str(tmp_path / "dump"), "--output", str(tmp_path / "out")]) == 2
    assert says in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_directories_that_are_no_dump(tmp_path, capsys):
    """What there would have to be; a dump that mydumper has not finished; LOAD DATA of what is elsewhere."""
    dump = tmp_path / "dump"
    dump.mkdir()
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out")]) == 2
    assert "@.json" in capsys.readouterr().err
    (dump / "metadata.partial").touch()
    assert cli.main(["import", str(dump), "--output", str(tmp_path / "out")]) == 2
    assert "not complete" in capsys.readouterr().err
    sql = tmp_path / "x.sql"
    sql.write_text("CREATE TABLE d.t (a INT); LOAD DATA LOCAL INFILE '../secret' INTO TABLE d.t;")
    assert cli.main(["import", str(sql), "--output", str(tmp_path / "out")]) == 2
    assert "outside" in capsys.readouterr().err
