"""Files that a dump names: only those below its own folder are read, by relative paths and through no link out."""

import json
import os

import pytest

from applier import cli
from applier.jobs.importing.job import import_dump
from applier.options import ImportOptions
from applier.snapshot import manifest
from tests.support.shell_dump import make_shell_dump

TABLE = "CREATE DATABASE d; USE d; CREATE TABLE t (a TEXT);\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A dump's folder, which is the current directory, beside a file that is nobody's business."""
    (tmp_path / "secret").write_text("hidden\n")
    (tmp_path / "dump" / "deep").mkdir(parents=True)
    (tmp_path / "dump" / "deep" / "rows.tsv").write_text("seen\n")
    for name, target in (("link", "../secret"), ("up", ".."), ("own", "deep")):
        (tmp_path / "dump" / name).symlink_to(target)
    monkeypatch.chdir(tmp_path / "dump")
    return tmp_path


def load(name):
    return f"{TABLE}LOAD DATA LOCAL INFILE '{name}' INTO TABLE t;\n"


def imported(dump, output, capsys):
    """The exit code; nothing is published where it is not 0, and nothing hidden is told."""
    code = cli.main(["import", str(dump), "--output", str(output)])
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err and "hidden" not in shown.out + shown.err
    assert output.exists() == (code == 0)
    return code, shown.err


@pytest.mark.by_turns("by")
@pytest.mark.parametrize("name", ["deep/rows.tsv", "./deep/rows.tsv", "own/rows.tsv"])
@pytest.mark.parametrize("by", ["name", "path", "uri"])
def test_a_file_below_the_dump(folder, name, by, capsys):
    (folder / "dump" / "dump.sql").write_text(load(name))
    dump = {"name": "dump.sql", "path": folder / "dump" / "dump.sql", "uri": f"file://{folder}/dump/dump.sql"}[by]
    assert imported(dump, folder / "out", capsys)[0] == 0
    assert manifest.load(str(folder / "out")).tables[0].rows == 1


@pytest.mark.by_turns("by")
@pytest.mark.parametrize("name", [
    "{}/secret", "../secret", "file://{}/secret", "file:{}/secret", "FILE://{}/secret", "deep/../../secret", "link",
    "up/secret", "s3://bucket/x", "foo://x", "http://there/x", "", ".", "deep", "nothing", "/dev/stdin", "a\\0b", "-",
])
@pytest.mark.parametrize("by", ["name", "path", "uri"])
def test_a_file_elsewhere(folder, name, by, capsys):
    (folder / "dump" / "dump.sql").write_text(load(name.format(folder)))
    dump = {"name": "dump.sql", "path": folder / "dump" / "dump.sql", "uri": f"file://{folder}/dump/dump.sql"}[by]
    code, error = imported(dump, folder / "out", capsys)
    assert code == 2 and "error" in error


@pytest.mark.parametrize("name", ["../secret", "link", "{}/secret"])
def test_directories_of_mydumper(folder, name, capsys):
    dump = folder / "dump"
    (dump / "metadata").write_text("")
    (dump / "d-schema-create.sql").write_text("CREATE DATABASE `d`;\n")
    (dump / "d.t-schema.sql").write_text("CREATE TABLE `t` (a TEXT);\n")
    (dump / "d.t.00000.sql").write_text(f"LOAD DATA LOCAL INFILE '{name.format(folder)}' REPLACE INTO TABLE `t`;\n")
    assert imported(dump, folder / "out", capsys)[0] == 2


def test_a_part_of_a_dump_that_is_a_link(folder, capsys):
    """Whatever program wrote it."""
    dump = folder / "dump"
    (dump / "_schema.sql").write_text(TABLE)
    (folder / "rows.sql").write_text("INSERT INTO d.t VALUES ('hidden');\n")
    (dump / "rows.sql").symlink_to("../rows.sql")
    assert "leads out" in imported(dump, folder / "out", capsys)[1]


@pytest.fixture
def shell_dump(folder):
    dump = folder / "first.sql"
    dump.write_text("CREATE DATABASE d; CREATE TABLE d.t (a INT); INSERT INTO d.t VALUES (1), (2);")
    import_dump(ImportOptions(str(dump), str(folder / "first")))
    make_shell_dump(folder / "first", folder / "shell")
    return folder / "shell"


def changed(file, **values):
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


@pytest.mark.parametrize("base", ["../elsewhere/d", "{}/elsewhere/d", "file://{}/elsewhere/d", "out/d"])
def test_basenames_of_mysql_shell(folder, shell_dump, base, capsys):
    """A schema's, a table's and a partition's files lie where the others do."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    for path in list(shell_dump.iterdir()):
        if path.name.startswith("d"):
            os.link(path, elsewhere / path.name)
    (shell_dump / "out").symlink_to(elsewhere)
    base = base.format(folder)
    for file, key in (("@.json", "d"), ("d.json", "t")):
        kept = (shell_dump / file).read_text()
        changed(shell_dump / file, basenames={key: base if key == "d" else f"{base}@t"})
        assert imported(shell_dump, folder / "out", capsys)[0] == 2
        (shell_dump / file).write_text(kept)
    assert imported(shell_dump, folder / "out", capsys)[0] == 0


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", "[" * 100_000, "{\"schemas\": 7}", "{\"schemas\": [7]}",
                                  "{\"schemas\": [\"d\"], \"basenames\": []}", "\xff", "NaN", "{}",
                                  "{\"schemas\": [\"x\"], \"tables\": {}, \"options\": 7}", "1" * 10_000])
def test_json_that_is_damaged(folder, shell_dump, text, capsys):
    for name in ("@.json", "d.json", "d@t.json"):
        kept = (shell_dump / name).read_bytes()
        (shell_dump / name).write_text(text)
        code, _ = imported(shell_dump, folder / "out", capsys)
        if code == 0:  # a schema without tables is complete
            assert name == "d.json" and "tables" not in text
            os.rename(folder / "out", folder / "empty")
        (shell_dump / name).write_bytes(kept)


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("name", ["@.json", "d.json", "d@t.json"])
def test_fields_of_another_kind(folder, shell_dump, name, capsys):
    """Each field of each file in turn is a number, a text, a list, an object: an error with the file's name, or no
    matter."""
    whole = json.loads((shell_dump / name).read_text())
    for key in whole:
        for value in (7, "x", ["x"], {"x": ["x"]}, None, True):
            (shell_dump / name).write_text(json.dumps(whole | {key: value}))
            code, _ = imported(shell_dump, folder / f"out-{key}-{value!r}"[:100].replace("/", "_"), capsys)
            assert code in (0, 2), (key, value)
