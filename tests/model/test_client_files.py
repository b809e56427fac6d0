"""SQL-CLIENT: files of SQL are read alike by clients of every character set, with whatever is in rows, names and
definitions."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import applier
import applier.binlog
from applier import cli
from applier.errors import SchemaError
from applier.jobs.exporting.cells import cells_of, literals_text, rows_text
from applier.jobs.exporting.statements import insert_head, load_data
from applier.mysql.client_sql import CHARSET, HEAD, for_clients
from applier.mysql.types import ColumnType, quote_name, quote_text
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column, Default
from applier.sql.tokens import tokenize
from tests.support.client_scanner import CHARSETS, divided
from tests.support.examples import examples

SHELL = "縗'縗\\! touch PWNED # "
"""In sjis the last byte of 縗 and the backslash are a character, and then the quote ends."""
PARTS = st.sampled_from([
    "縗", "本", "é", "ß", "ä", "ソ", "表", "名", "\u0080", "\u009b", "\u3000", "\U0001f600", "한", "\\", "'", '"', "`",
    "''", "\n", "\r", "\0", "\x1a", "\t", ";", "!", "#", "-- ", "/*", "*/", " ", "a", "n", "N", "0", "1",
    "\\! touch X # ", "\nDELIMITER x\n", "\n\\! touch X\n", "@", "|", "~", "\x7f"])
TEXTS = st.lists(PARTS, max_size=6).map("".join) | st.text(st.characters(codec="utf-8"), max_size=8)
NAMES = TEXTS.map(lambda text: text.replace("\0", "").strip()[:64]).filter(
    lambda name: name and max(name) < "\U00010000")


def check(text: bytes, statements: int | None = None) -> None:
    """Every client finds the same statements, and none of its own commands, whether it knows the head or not."""
    found = divided(text, "utf8mb4", "mysql")
    assert not found[1]
    assert statements in (None, len(found[0]))
    for flavour in ("mysql", "mariadb"):
        for charset in CHARSETS:
            assert divided(text, charset, flavour) == found, (charset, flavour)


@pytest.mark.parametrize("charset", ["sjis", "cp932"])
def test_the_model_knows_the_fault(charset):
    """What was written once, and which real clients were seen to run."""
    text = "INSERT INTO t VALUES ('" + SHELL.replace("\\", "\\\\").replace("'", "\\'") + "');\n"
    assert divided(text.encode(), "utf8mb4", "mysql")[1] == []
    assert [command[:8] for command in divided(text.encode(), charset, "mysql")[1]] == [b"\\! touch"]
    name = "SELECT * FROM `本`; SELECT '`; \\! touch PWNED';\n"
    assert divided(name.encode(), "gbk", "mariadb")[1] and not divided(name.encode(), "latin1", "mariadb")[1]


def rows_of(values, name="t", column="c"):
    made = Column(column, ColumnType("text"))
    head = insert_head(TableDefinition("d", name, (made,)))
    return bytes(rows_text([cells_of(made, pa.array(values, pa.string()))], len(values), True,
                           np.frombuffer(head, np.uint8)))


@settings(max_examples=examples(150))
@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_rows(values):
    """A literal begins and ends where it does, in the modes of a session that was not set, too, and has its value."""
    text = b"SELECT 1;\n" + rows_of(values) + b"SELECT 2;\n"
    check(text, 3)
    for charset in CHARSETS:
        assert len(divided(text, charset, "mysql", backslash=False)[0]) == 3
    literals = [token for token in tokenize(rows_of(values).decode()) if token.kind in ("string", "bytes")]
    assert [bytes.fromhex(token.text).decode() if token.kind == "bytes" else token.text
            for token in literals] == values


def test_what_stays_readable():
    """Quotes never are a part of a character; a backslash is hidden in hexadecimal digits only where it may be."""
    assert rows_of(["l'été's", "本'; --", "\n本", "C:\\本", "本\n", SHELL]).decode() == (
        "INSERT INTO `d`.`t` (`c`) VALUES\n('l''été''s'),\n('本''; --'),\n('\\n本'),\n('C:\\\\本'),\n"
        f"(_utf8mb4 x'E69CAC0A'),\n(_utf8mb4 x'{SHELL.encode().hex().upper()}');\n")


@settings(max_examples=examples(150))
@given(NAMES, NAMES, TEXTS)
def test_names(table, column, value):
    """Of tables and columns: they are read alike, or refused."""
    definition = TableDefinition("d", table, (Column(column, ColumnType("text")),))
    cell = cells_of(definition.columns[0], pa.array([value]))
    try:
        texts = [insert_head(definition) + b"('x');\n", load_data(definition, "x.tsv", [cell.mode], False).encode(),
                 for_clients(f"DROP TABLE {quote_name(table)} ;\n").encode(),
                 for_clients(f"SELECT {quote_name(column)} FROM {quote_name(table)}").encode() + b";\n",
                 bytes(literals_text([cell], 1, [f"DELETE FROM {quote_name(table)} WHERE {quote_name(column)} = ",
                                                 ";\n"]))]
    except SchemaError as error:
        assert re.search("[^\0-\x7f](`|$)|\\\\\n", table + "`" + column)
        assert "could misread the name" in str(error)
        return
    for text in texts:
        check(b"SELECT 1;\n" + text + b"SELECT 2;\n", 3)


@settings(max_examples=examples(150))
@given(NAMES, NAMES, TEXTS, TEXTS, st.sampled_from(["mysql", "mariadb"]))
def test_definitions(table, column, comment, default, flavour):
    """A CREATE TABLE is read alike, and makes the same table; or it is refused."""
    kind = ColumnType("enum", members=(comment.rstrip() or "a",), charset="utf8mb4", collation="utf8mb4_bin")
    sql = TableDefinition("d", table, (Column(column, kind, comment=comment, default=Default("string", default)),
                                       Column("e", ColumnType("int"))), flavour=flavour).to_sql()
    try:
        text = for_clients(sql)
    except SchemaError:
        return
    check(f"SELECT 1;\n{text};\nSELECT 2;\n".encode(), 3)
    before, after = ([(token.text.lower(), token.kind == "string") for token in tokenize(one)] for one in (sql, text))
    assert after == before


@pytest.mark.parametrize("name, written", [
    ("t", "`t`"), ("größe", "`größe`"), ("本", "本"), ("café", "café"), ("2024年", "2024年"), ("_本", "_本"),
    ("本 x", "`本 x`"), ("a\\", "`a\\`"), ("a``b", "`a````b`"), ("x-本", None), ("本`x", None), ("1e5本", None),
    ("\U00010000", None), ("a\\\nb", None)])
def test_how_a_name_is_written(name, written):
    """Without quotes where a backquote would follow a byte beyond ASCII; both servers take that. Else it is refused."""
    if written is not None:
        assert for_clients(f"SELECT {quote_name(name)}.`a`") == f"SELECT {written}.`a`"
        dot = ". " if written == "2024年" else "."
        assert for_clients(f"SELECT `a`.{quote_name(name)} + 1") == f"SELECT `a`{dot}{written} + 1"
        return
    with pytest.raises(SchemaError, match="a client of another character set than UTF-8 could misread the name"):
        for_clients(quote_name(name))


def test_how_texts_of_definitions_are_written():
    """Line ends are as they are behind a byte beyond ASCII; nothing else can be written there."""
    assert for_clients(f"COMMENT {quote_text('状態' + chr(10) + '1:有効' + chr(13) + chr(10) + chr(9))}") == (
        "COMMENT '状態\n1:有効\r\\n\t'")
    assert for_clients("-- the server's `本\n`本`") == "-- the server's `本\n本 /*!*/"
    for text in (SHELL, "本\0", "本\x1a"):
        with pytest.raises(SchemaError, match="could misread the text"):
            for_clients(f"COMMENT {quote_text(text)}")


SOURCE = "00000000-0000-4000-8000-000000000001"
ROWS = [SHELL, "縗'; COMMIT; DELETE FROM app.victim; COMMIT; -- ", "本", "é\n\\! touch PWNED\n", "ソ\\", "x"]


@pytest.mark.slow
def test_files_that_commands_write(tmp_path, monkeypatch, capsys):
    """undo, diff, export and verify, of such rows in a table and a column whose names could be misread."""
    monkeypatch.chdir(tmp_path)
    rows = {"id": list(range(len(ROWS))), "2024年": ROWS}
    with applier.binlog.Writer("x.000001") as log:
        log.query("CREATE DATABASE app")
        log.query("CREATE TABLE app.本 (id INT PRIMARY KEY, `2024年` VARCHAR(200) COMMENT '状態\n1:有効') "
                  "CHARACTER SET utf8mb4")
        with log.transaction():
            log.insert("app.本", rows)
        with log.transaction():
            log.delete("app.本", rows)
    applier.replay("x.000001", "after")
    applier.replay("x.000001", "now", stop=f"{SOURCE}:1-3")
    for words in (["export", "now", "--output", "sql"], ["export", "now", "--format", "tsv", "--output", "tsv"],
                  ["diff", "after", "now", "--format", "sql", "--output", "diff.sql"],
                  ["undo", "--binlogs", "x.000001", "--gtids", f"{SOURCE}:4", "--output", "undo.sql"]):
        assert cli.main(words) == 0
    capsys.readouterr()
    assert cli.main(["verify", "now", "--sql"]) == 0
    (tmp_path / "verify.sql").write_text(capsys.readouterr().out)
    written = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*.sql")}
    assert len(written) == 9
    for name, text in written.items():
        head = CHARSET if name.startswith("tsv/") else HEAD
        assert text.startswith(head.encode()), name
        check(text.removeprefix(head.encode()))
    for name in ("diff.sql", "undo.sql", "sql/app/本/0000.sql"):
        assert SHELL.encode().hex().upper().encode() in written[name] and b"PWNED # " not in written[name]


@pytest.mark.slow
def test_commands_refuse_such_names(tmp_path, monkeypatch, capsys):
    """Each names it and leaves no file; a snapshot has every table."""
    monkeypatch.chdir(tmp_path)
    with applier.binlog.Writer("x.000001") as log:
        log.query("CREATE DATABASE app")
        log.query("CREATE TABLE app.`x-本` (id INT PRIMARY KEY)")
        for verb in (log.insert, log.delete):
            with log.transaction():
                verb("app.x-本", {"id": [1]})
    applier.replay("x.000001", "after")
    applier.replay("x.000001", "now", stop=f"{SOURCE}:1-3")
    assert "CREATE TABLE `app`.`x-本` (" in applier.Snapshot("now").schema
    for words in (["export", "now", "--output", "refused"], ["verify", "now", "--sql"],
                  ["diff", "after", "now", "--format", "sql", "--output", "refused"],
                  ["undo", "--binlogs", "x.000001", "--gtids", f"{SOURCE}:4", "--output", "refused"]):
        assert cli.main(words) == 1
        assert "could misread the name '`x-本`'" in capsys.readouterr().err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["after", "now", "x.000001"]
