"""Names, words and expressions that would do something else than name: to a shell, to a client, to a server."""

import json
import os
import re
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from applier import cli
from applier.binlog.archive.log_names import check_log_name
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError, SchemaError, UsageError
from applier.jobs.exporting import statements
from applier.jobs.replay.job import replay_with
from applier.mysql.types import quote_name, quote_text
from applier.options import ReplayOptions
from applier.schema.allowed import check_sql
from applier.schema.history.history import SchemaHistory
from applier.snapshot import manifest
from applier.writer.writer import BinlogWriter
from tests.recorded.exporting import bad_names
from tests.recorded.exporting.bad_names import EVIL, NAMES, NO_NAMES
from tests.support.folders import HOSTILE

CLIENT = """#!/bin/sh
case "$1" in --help) echo "  --binary-mode  …"; exit ;; esac
printf '%s\\n' "$0" "$@" >>"$RECORD/words"
cat >"$RECORD/stdin"
"""


def given(script, record):
    """What the script's client gets: its words, and its input. The client is a stub; no file may appear but these."""
    programs = record / "programs"
    programs.mkdir(parents=True)
    for name in ("mysql", "mariadb"):
        (programs / name).write_text(CLIENT)
        (programs / name).chmod(0o755)
    before = sorted(script.parent.rglob("*"))
    done = subprocess.run(["sh", str(script), "-h", "there"], capture_output=True, cwd=record, check=False,
                          env={"PATH": f"{programs}:/usr/bin:/bin", "RECORD": str(record)})
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", b"")
    assert sorted(script.parent.rglob("*")) == before
    assert {path.name for path in record.iterdir()} == {"programs", "words", "stdin"}
    return (record / "words").read_text().splitlines(), (record / "stdin").read_bytes()


def commands(sql: str) -> list[str]:
    """Statements as a client divides them, with nothing in the place of what is quoted or a comment. This is no scanner
    of the project's: quotes, a backslash in texts, "-- " and # to the line's end, /* */, and ";"."""
    bare = re.sub(r"""('(?:[^'\\]|\\.|'')*'|`(?:[^`]|``)*`|"(?:[^"\\]|\\.|"")*")|-- [^\n]*|#[^\n]*|/\*M?!?.*?\*/""",
                  lambda match: "''" if match[1] else "", sql, flags=re.DOTALL)
    assert not re.search(r"[\\`\"]|(?<!')'(?!')", bare), bare[:2000]
    return [part.strip() for part in bare.split(";") if part.strip()]


@pytest.fixture(scope="module", params=["mysql", "mariadb"])
def snapshot(request, tmp_path_factory):
    return request.param, bad_names.made_snapshot(tmp_path_factory.mktemp(request.param), request.param)


def held(folder):
    """Of each table of a snapshot: its definition and its rows."""
    return {(table.database, table.name): (table.definition, [row for file in table.files for row in pq.read_table(
        folder / file.path, partitioning=None).to_pylist()]) for table in manifest.load(str(folder)).tables}


@pytest.mark.by_turns("form")
@pytest.mark.parametrize("form", bad_names.FORMATS)
def test_every_name_reaches_the_client_as_a_name(snapshot, form, tmp_path):
    """Through log, replay, export, the shell and the client's input: what is there then is the same snapshot."""
    flavour, folder = snapshot
    place = bad_names.exported(folder, tmp_path / "export", form)
    words, text = given(place / "_load.sh", tmp_path / "record")
    assert Path(words[0]).name == {"mysql": "mysql", "mariadb": "mariadb"}[flavour]
    assert words[1:3] == ["-h", "there"] and "--binary-mode" in words
    verbs = {command.split()[0] for command in commands(text.decode())}
    assert verbs == {"SET", "CREATE", {"sql": "INSERT", "tsv": "LOAD"}[form]}
    assert len(held(folder)) == 2 * len(NAMES)
    (tmp_path / "dump.sql").write_bytes(text)
    again = str(tmp_path / "dump.sql") if form == "sql" else str(place)
    assert cli.main(["import", again, "--output", str(tmp_path / "again")]) == 0
    assert held(tmp_path / "again") == held(folder)


def test_the_comments_of_the_script_are_the_projects_own(snapshot, tmp_path):
    _, folder = snapshot
    script = (bad_names.exported(folder, tmp_path / "export", "sql") / "_load.sh").read_text()
    comments = re.findall(r"^\s*#.*$", script, re.MULTILINE)
    assert len(comments) == 5 and not re.search(r"PWNED|binlog\.0|\x1b", "".join(comments))


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_no_server_takes_for_a_name(name):
    """A table that is replayed is refused; others do not matter."""
    quoted = quote_name(name)
    for sql in (f"CREATE TABLE {quoted} (a INT)", f"CREATE TABLE t ({quoted} INT)",
                f"CREATE TABLE t (a INT, KEY {quoted} (a))",
                f"CREATE TABLE t (a INT) PARTITION BY RANGE (a) (PARTITION {quoted} VALUES LESS THAN (3))",
                f"CREATE TABLE s (a INT);; CREATE TABLE {quoted} LIKE s",
                f"CREATE TABLE s (a INT);; RENAME TABLE s TO {quoted}",
                f"CREATE TABLE s (a INT);; ALTER TABLE s RENAME {quoted}",
                f"CREATE TABLE s (a INT);; ALTER TABLE s ADD {quoted} INT",
                f"CREATE TABLE s (a INT);; ALTER TABLE s ADD KEY {quoted} (a)"):
        if name == "" and "KEY" in sql:
            continue  # the server's own choice
        with pytest.raises(SchemaError):
            follow(sql)
        follow(sql, wanted=lambda database, table: False)


def follow(sql, **options):
    """A history after the statements."""
    history = SchemaHistory(options.pop("flavour", "mysql"), **options)
    for statement in sql.split(";; "):
        history.load_statement(statement, database="d", sql_mode="", time_zone="+00:00")
    return history


@pytest.mark.parametrize("evil", EVIL)
def test_words_that_are_none(evil):
    """A server takes its default engine instead of an unknown one; character sets and collations it refuses."""
    word = quote_text(evil)
    for sql in (f"CREATE TABLE t (a INT) ENGINE={word}", f"CREATE TABLE t (a INT);; ALTER TABLE t ENGINE={word}"):
        [table] = follow(sql).definitions()
        assert "ENGINE" not in table.to_sql() and table.engine is None
    for sql in (f"CREATE TABLE t (a INT) CHARSET={word}", f"CREATE TABLE t (a INT) COLLATE={word}",
                f"CREATE TABLE t (a INT) CHARSET=utf8mb4 COLLATE={word}", f"CREATE TABLE t (a TEXT COLLATE {word})",
                f"CREATE TABLE t (a TEXT CHARACTER SET {word})",
                f"CREATE TABLE t (a TEXT CHARACTER SET latin1 COLLATE {word})",
                f"CREATE TABLE t (a TEXT);; ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE {word}",
                f"CREATE TABLE t (a TEXT);; ALTER TABLE t COLLATE {word}"):
        with pytest.raises(SchemaError):
            follow(sql)
        follow(sql, wanted=lambda database, table: False)
    for sql in (f"CREATE DATABASE x COLLATE {word}", f"CREATE DATABASE x CHARACTER SET {word}",
                f"CREATE DATABASE x CHARACTER SET utf8mb4 COLLATE {word}",
                f"CREATE DATABASE x;; ALTER DATABASE x COLLATE {word}"):
        with pytest.raises(SchemaError):
            follow(sql)


@pytest.mark.parametrize("evil", ["1; DROP DATABASE x", "1 \\! touch PWNED", "1 \\g", "1 \\C gbk"])
@pytest.mark.parametrize("sql", [
    "CREATE TABLE t (a INT DEFAULT ({}))", "CREATE TABLE t (a INT, b INT AS ({}))",
    "CREATE TABLE t (a INT, KEY ((({}))))",
    "CREATE TABLE t (a INT) PARTITION BY HASH ({})", "CREATE TABLE t (a INT) PARTITION BY ODD ({})",
    "CREATE TABLE t (a INT) PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN ({}))",
    "CREATE TABLE t (a INT) PARTITION BY LIST (a) (PARTITION p VALUES IN ({}))",
    "CREATE TABLE t (a INT) PARTITION BY RANGE (a) SUBPARTITION BY HASH ({}) (PARTITION p VALUES LESS THAN (1))",
    "CREATE TABLE t (a DATETIME DEFAULT NOW({}))", "CREATE TABLE t (a DATETIME ON UPDATE NOW({}))",
    "CREATE TABLE t (a INT DEFAULT f({}))",
])
def test_expressions_that_go_on(sql, evil):
    statement = sql.format(evil).replace("; ", ";")
    with pytest.raises(SchemaError):
        follow(statement)
    follow(statement, wanted=lambda database, table: False)


@pytest.mark.parametrize("sql", ["a + 1", "concat(`a``;`, ';\\\\! x', \"\")", "(1),(2)", "ifnull(\\N, 2)", "a->>'$.b;'",
                                 "x'3b'",
                                 "_utf8mb4'\\\\'", "a := @b", "`a\n;`", "{d '2020-01-01'}", "é€"])
def test_expressions(sql):
    check_sql(sql, "it", "mysql")


@pytest.mark.parametrize("sql", ["1)", "(1", "1) (", "1;2", "1 -- x", "1 /* x */", "1 /*!50000 ; */", "'a", "`a",
                                 "1 # x", "\\", "1\n2",
                                 "\\! x", "\0", "a\x01", "/*", "'a\udcff'"])
def test_what_is_no_expression(sql):
    with pytest.raises(SchemaError):
        check_sql(sql, "it", "mysql")


@pytest.mark.parametrize("name", ["binlog.000001", "it's.000001", "名前-bin.000001", "a b.000001", ""])
def test_names_of_binlogs(name):
    check_log_name(name)


@pytest.mark.parametrize("name", ["a\nb", "a\r", "a\x1b[2J", "a\u202eb", "../a.000001", "a\\b", "\0", "a\u2028b",
                                  "x" * 600, 7])
def test_what_is_no_name_of_a_binlog(name):
    with pytest.raises(UsageError):
        check_log_name(name)


@pytest.mark.parametrize("name, code", [("dump1.sql", 2), ("dump2.sql", 1), ("dump4.sql", 1)])
def test_hostile_dumps(name, code, tmp_path, capsys):
    """A binlog's name, an engine and collations that are statements: nothing is published."""
    assert cli.main(["import", str(HOSTILE / name), "--output", str(tmp_path / "out")]) == code
    assert os.listdir(tmp_path) == [] and "Traceback" not in capsys.readouterr().err


def test_a_command_in_the_place_of_an_engine(tmp_path):
    """As a real MariaDB logged it: a replica has the table in its default engine, and so has who loads the export."""
    replay_with(ThisProcess(), ReplayOptions((str(HOSTILE / "mjoe2.000001"),), str(tmp_path / "out")))
    for form in bad_names.FORMATS:
        place = bad_names.exported(tmp_path / "out", tmp_path / form, form)
        _, text = given(place / "_load.sh", tmp_path / f"record-{form}")
        assert b"\\!" not in text and b"touch" not in text and b"CREATE TABLE `app`.`t`" in text


# ---- manifests


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """A snapshot whose manifest has every kind of thing."""
    folder = tmp_path_factory.mktemp("rich")
    with BinlogWriter(folder / "binlog.000001", flavour="mariadb") as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE d.p (id INT PRIMARY KEY) ENGINE=InnoDB")
        log.query(
            "CREATE TABLE d.t (a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(9) CHARACTER SET latin1 DEFAULT 'x' "
                  "COMMENT 'c', "
                  "c DECIMAL(9,2) DEFAULT 1.5, d DATETIME(3) DEFAULT NOW(3) ON UPDATE NOW(3), "
                  "e ENUM('a','b'), f INT AS (a+1), "
                  "g BLOB DEFAULT x'ff', h INT DEFAULT (1+2), i INT DEFAULT NULL, KEY k (b(3)), "
                  "CONSTRAINT fk FOREIGN KEY (i) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB AUTO_INCREMENT=7")
        log.query(
            "CREATE TABLE d.v (a INT) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME LIMIT 5 (PARTITION p0 HISTORY, "
                  "PARTITION pn CURRENT)")
        log.query("CREATE TABLE d.r (a INT) PARTITION BY RANGE (a+0) SUBPARTITION BY HASH (a) SUBPARTITIONS 2 "
                  "(PARTITION p0 VALUES LESS THAN (3), PARTITION p1 VALUES LESS THAN MAXVALUE)")
        log.query("CREATE TABLE d.l (a INT) PARTITION BY LIST COLUMNS (a) (PARTITION p0 VALUES IN (1,2))")
    replay_with(ThisProcess(), ReplayOptions((str(folder / "binlog.000001"),), str(folder / "out")))
    return folder / "out"


def leaves(value, path=()):
    """The paths of all that is no object and no list."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


@pytest.mark.parametrize("evil", ["x\n\\! touch PWNED\n-- ", "1) ; DROP DATABASE PWNED; --"])
def test_a_manifest_that_was_tampered_with(rich, evil, tmp_path):
    """Whatever field says it, an export of it is refused, or has it in quotes: no other statement comes to a client."""
    document = json.loads((rich / "_snapshot.json").read_text())
    document.pop("digest", None)
    quoted = 0
    for path in list(leaves(document)):
        changed = json.loads(json.dumps(document))
        parent = changed
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = evil
        (tmp_path / "_snapshot.json").write_text(json.dumps(changed))
        try:
            loaded = manifest.load(str(tmp_path))
            sql = statements.schema_sql(loaded.position, loaded.databases, [
                table.definition for table in loaded.tables])
        except (ApplierError, KeyError, TypeError, ValueError, AttributeError):
            continue
        assert [command for command in commands(sql) if re.match("(?!SET|CREATE)|.*(PWNED|touch|DROP)",
                                                                 command)] == [], path
        quoted += evil in sql or quote_text(evil)[1:-1] in sql
    assert quoted > 5
