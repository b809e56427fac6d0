"""Dumps that ask for work or memory without end: an error that names the line, or what a server makes of them."""

import gzip
import json
import os
import subprocess
import sys

import pytest

from applier.jobs.importing.sql.inserts import parse_head
from tests.recorded.importing.test_import_job import BEGIN, imported, rows_of
from tests.support.folders import ROOT

DEEP = 20_000
JSON_LEVELS = 100
"""What MySQL takes: JSON_DOCUMENT_MAX_DEPTH."""


def in_time(code, *arguments):
    """Run Python code by itself; what would continue without end is stopped, and fails."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=300,
                          check=False, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    return done


PATTERNS = [
    ("applier.schema.allowed._NUMBER", "1" * 200_000 + "x"),
    ("applier.jobs.importing.sql.inserts._HEAD", "INSERT " + "/**/" * 40 + "%"),
    ("applier.jobs.importing.sql.inserts._HEAD", "INSERT" + " " * 60_000 + "%"),
    ("applier.jobs.importing.sql.inserts._HEAD", "INSERT INTO t (" + "a , /**/" * 5_000 + "%"),
    ("applier.jobs.importing.sql.inserts._HEAD", "INSERT INTO `" + "``" * 30_000),
    ("applier.jobs.importing.sql.inserts._HEAD", "INSERT /*" + "/*" * 30_000),
    ("applier.jobs.importing.directory._CREATE", "CREATE DATABASE " + "/**/" * 40 + "%"),
    ("applier.jobs.importing.directory._CREATE", "CREATE DATABASE " + "IF NOT EXISTS " * 20_000),
    ("applier.jobs.importing.position._CHANGE", "--\n" * 100_000),
    ("applier.jobs.importing.position._CHANGE", "--" + "\n" * 300_000),
    ("applier.jobs.importing.position._PURGED", "/*" + " " * 300_000),
    ("applier.jobs.importing.position._MASTER", "[master]\n" * 100_000),
    ("applier.jobs.importing.position._LOG", "\n" * 300_000),
    ("applier.jobs.importing.position._POS", "#\n" * 200_000),
    ("applier.jobs.importing.position._GTID", "\n" * 300_000 + "GTID:" + " " * 100_000),
]


def test_patterns_that_read_dumps_take_time_by_the_length(tmp_path):
    """Some of these took longer than anybody waits, or grew by the square of the length."""
    (tmp_path / "cases").write_text(json.dumps(PATTERNS))
    in_time("import importlib, json, sys\n"
            "for name, text in json.load(open(sys.argv[1])):\n"
            "    module, _, pattern = name.rpartition('.')\n"
            "    found = getattr(importlib.import_module(module), pattern)\n"
            "    text = text.encode() if isinstance(found.pattern, bytes) else text\n"
            "    found.fullmatch(text), all(found.finditer(text))\n"
            "from applier.sql.tokens import split_statements\n"
            "for text in ('/*' * 300_000, \"' \" * 300_001, '`' + 'a' * 300_000, '\"' * 300_001, '/* ' * 200_000):\n"
            "    assert len(list(split_statements(text))) == 1", str(tmp_path / "cases"))


@pytest.mark.parametrize("text, table", [
    (b"INSERT/**/INTO/*a*/`a``b`/**/./* */\"c\"\"d\" /**/ ( `x` /**/, y ) /**/VALUES/**/(", "c\"d"),
    (b"insert  low_priority ignore into t values(", "t"),
    (b"REPLACE t\nVALUE\t(", "t"),
    (b"INSERT INTO t () VALUES (", "t"),
])
def test_heads_are_read_as_before(text, table):
    head = parse_head(text + b"1)")
    assert (head.text + b"1)", head.table) == (text[:-1] + b"1)", table)


@pytest.mark.parametrize("text", [
    b"INSERT INTO t /*! (a) */ VALUES (", b"INSERTINTO t VALUES (", b"INSERT INTO t SET (",
    b"INSERT INTO t (a b) VALUES (", b"INSERT t(/*M! a*/) VALUES ("])
def test_what_is_no_head(text):
    assert parse_head(text) is None


def test_an_insert_that_cannot_be_read_stops_the_import(tmp_path, capsys):
    """Comments between each two words of it, and then nothing that a server takes; it was skipped."""
    sql = BEGIN + "CREATE TABLE t (a INT PRIMARY KEY);\nINSERT " + "/**/" * 40 + "%;\n"
    assert imported(sql, tmp_path / "out") == 1
    assert "line 3" in (error := capsys.readouterr().err) and "cannot be imported" in error


@pytest.mark.parametrize("clause, says", [
    ("HASH (a) PARTITIONS 99999999999", "1215752191 partitions"), ("KEY () PARTITIONS 8193", "8193 partitions"),
    ("HASH (a) PARTITIONS 0", "no partition"),
    ("RANGE (a) SUBPARTITION BY HASH (a) SUBPARTITIONS 9999999999 (PARTITION p VALUES LESS THAN (1))", "1410065407"),
    ("RANGE (a) SUBPARTITION BY HASH (a) SUBPARTITIONS 4097 (PARTITION p VALUES LESS THAN (1), "
     "PARTITION q VALUES LESS THAN (2))", "8194 partitions"),
])
def test_partitions_that_no_server_makes(clause, says, tmp_path, capsys):
    """Both refuse more than 8,192 (1499), and none (1504); of a number they take the lower 32 bits."""
    sql = BEGIN + f"CREATE TABLE t (a INT PRIMARY KEY)\nPARTITION BY {clause};\nINSERT INTO t VALUES (1);\n"
    assert imported(sql, tmp_path / "out") == 1
    assert says in (error := capsys.readouterr().err) and "line 2" in error
    for number in (8192, (1 << 32) + 1):
        assert imported(sql.replace(clause, f"HASH (a) PARTITIONS {number}"), tmp_path / str(number)) == 0


@pytest.mark.parametrize("sql", [
    f"CREATE TABLE t (b INT, a INT AS ({'(' * DEEP}b{')' * DEEP}) STORED);\nINSERT INTO t (b) VALUES (1);\n",
    f"CREATE TABLE t (b INT, a INT DEFAULT ({'(' * DEEP}1{')' * DEEP}));\nINSERT INTO t (b) VALUES (1);\n",
    f"CREATE TABLE t (b INT);\nINSERT INTO t VALUES ({'(' * DEEP}1{')' * DEEP});\n",
    f"CREATE TABLE t (b INT);\nINSERT INTO t VALUES ({'- ' * DEEP}1);\n",
    f"CREATE TABLE t (b INT);\nUPDATE t SET b = {'(' * DEEP}1{')' * DEEP};\n",
], ids=["generated", "default", "value", "signs", "update"])
def test_nesting_without_end(sql, tmp_path, capsys):
    """Of expressions, deeper than anybody writes them: what is not computed says so, and which line has it. (Servers
    take some ten thousand levels, as far as their memory for it goes.)"""
    assert imported(BEGIN + sql, tmp_path / "out") == 1
    assert "line 3" in capsys.readouterr().err


@pytest.mark.parametrize("levels", [JSON_LEVELS, JSON_LEVELS + 1, DEEP])
@pytest.mark.parametrize("opened, closed", [("[", "]"), ('{"a": ', "}")])
def test_json_that_is_nested(levels, opened, closed, tmp_path, capsys):
    """As deep as a server takes it (3157 beyond)."""
    text = opened * levels + "1" + closed * levels
    sql = BEGIN + f"CREATE TABLE t (a INT PRIMARY KEY, j JSON);\nINSERT INTO t VALUES (1, '1'), (2, '{text}');\n"
    if levels <= JSON_LEVELS:
        assert imported(sql, tmp_path / "out") == 0
        assert rows_of(tmp_path / "out", "d", "t") == [(1, "1"), (2, text)]
    else:
        assert imported(sql, tmp_path / "out") == 1
        error = capsys.readouterr().err
        assert "3157" in error and "line 3" in error and "column j" in error


def test_what_is_no_json(tmp_path, capsys):
    sql = BEGIN + "CREATE TABLE t (a INT PRIMARY KEY, j JSON);\nINSERT INTO t VALUES (1, '1'), (2, '{\"a\": }');\n"
    assert imported(sql, tmp_path / "out") == 1
    assert "line 3" in (error := capsys.readouterr().err) and "column j" in error


LARGEST = 1 << 25
BOMBS = {"a literal": ("INSERT INTO t VALUES (1, '", "a", 4), "a comment": ("/* ", "x", 2),
         "a statement": ("CREATE VIEW v AS SELECT 1, ", "1, ", 4)}
"""How each begins, what comes again and again, and in which line it is told: where a statement begins, or the one
before a comment ends."""


@pytest.mark.thorough
def test_small_files_that_hold_much(tmp_path):
    """300 MB of one statement, in a file of some hundred kB, with a limit of 32 MB (instead of 1 GiB): an error that
    names the line, and memory stays within a few times the limit above what a small dump takes."""
    (tmp_path / "small.sql").write_text(BEGIN + "CREATE TABLE t (a INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n")
    for name, (begin, more, _) in BOMBS.items():
        with gzip.open(tmp_path / f"{name}.sql.gz", "wb", compresslevel=1) as file:
            file.write((BEGIN + "CREATE TABLE t (a INT PRIMARY KEY, v LONGTEXT);\n\n" + begin).encode())
            part = more.encode() * ((1 << 20) // len(more))
            for _ in range(300):
                file.write(part)
    done = in_time(
        "import resource, sys; from applier import cli; from applier.jobs.importing.sql import dump_text\n"
        f"dump_text.DumpText.__init__.__kwdefaults__['largest'] = {LARGEST}\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10\n"
        "assert cli.main(['import', sys.argv[1], '--output', sys.argv[1] + '.out']) == 0\n"
        "before = peak()\n"
        "for dump in sys.argv[2:]:\n"
        "    assert cli.main(['import', dump, '--output', dump + '.out']) == 2\n"
        "print(peak() - before)",
        str(tmp_path / "small.sql"), *[str(tmp_path / f"{name}.sql.gz") for name in BOMBS])
    for name, (_, _, line) in BOMBS.items():
        [error] = [text for text in done.stderr.splitlines() if f"/{name}.sql.gz, line {line}" in text]
        assert "is longer than" in error
    assert int(done.stdout.split()[-1]) < 6 * (LARGEST >> 20)


def test_lines_that_are_passed_over_one_by_one(tmp_path):
    """IGNORE n LINES of a file: each is looked at once."""
    (tmp_path / "t.tsv").write_text("x\n" * 400_000 + "1\n")
    sql = BEGIN + ("CREATE TABLE t (a INT PRIMARY KEY);\n"
                   "LOAD DATA LOCAL INFILE 't.tsv' INTO TABLE t IGNORE 400000 LINES;\n")
    (tmp_path / "dump.sql").write_text(sql)
    in_time("import sys; from applier import cli; sys.exit(cli.main(['import', *sys.argv[1:]]))",
            str(tmp_path / "dump.sql"), "--output", str(tmp_path / "out"))
    assert rows_of(tmp_path / "out", "d", "t") == [(1,)]
