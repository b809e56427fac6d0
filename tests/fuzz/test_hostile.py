"""Hostile and damaged input through every verb: an exit code that is documented, no traceback, nothing for a terminal
to obey. Files in fuzz/hostile, and names that are no text in every place that has one."""

import io
import json
import os
import re
import subprocess
import sys
import zlib

import pytest

from applier import cli
from applier.binlog.events.format import EventType
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from applier.snapshot.staging import REPORT
from tests.support import hostile_logs
from tests.support.folders import CASES, HOSTILE

LOGS = sorted(path for path in HOSTILE.iterdir() if re.fullmatch(r"\.\d{6}", path.suffix))
DUMPS = sorted(HOSTILE.glob("*.sql"))
RAW = [(raw, "mysql") for raw in hostile_logs.NO_TEXTS[:3]] + [(hostile_logs.NO_TEXTS[0], "mariadb")]
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What a terminal obeys, except for line feeds and tabs."""


FOR_PROGRAMS = frozenset(("show", "views", "--sql", "sql", "json"))
"""Verbs and options whose output a program reads, which needs names as they are; but not on a terminal."""


class Screen(io.TextIOWrapper):
    """A terminal, or a file."""

    def __init__(self, is_terminal):
        super().__init__(io.BytesIO(), "utf-8", errors="backslashreplace", newline="")
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal

    @property
    def text(self):
        self.flush()
        text = self.buffer.getvalue().decode("utf-8", "surrogateescape")
        if self.is_terminal:  # its own colours, and what moves bars
            text = re.sub(r"\x1b\[(?:[0-9;]*[mKA]|\?25[lh])|\r", "", text)
        return text


@pytest.fixture
def run(monkeypatch):
    """A command line in this process, whose output is looked through; the exit code and both texts."""
    def run(*words, terminal=False):
        out, err = Screen(terminal), Screen(terminal)
        with monkeypatch.context() as changed:
            changed.setattr(sys, "stdout", out)
            changed.setattr(sys, "stderr", err)
            code = cli.main(list(map(str, words)))
        assert code in (0, 1, 2) and (code != 0) <= bool(err.text), (words, code, err.text)
        assert "Traceback" not in err.text and not OBEYED.search(err.text), (words, err.text)
        if not FOR_PROGRAMS.intersection(map(str, words)) or terminal:
            assert not OBEYED.search(out.text), (words, OBEYED.search(out.text), out.text)
        return code, out.text, err.text

    return run


def replayed(log, output, **options):
    """The exit code of a replay in this process."""
    try:
        replay_with(ThisProcess(1), ReplayOptions((str(log),), str(output), **options))
    except ApplierError as error:
        assert str(error) and not output.exists()
        return error.exit_code
    return 0


REFUSED = ((("import",), "longer than the column"), (("import",), "no such file"),
           (("export", "diff", "verify"), "could misread the"), (("views",), "for one view"))
"""Verbs, and why they may refuse what a snapshot has: files of SQL cannot have some names, nor names that are alike."""


def every_verb(log, folder, run, terminal):
    """What reads a log, and, where a replay makes a snapshot of it, what reads that."""
    for words in (("show",), ("show", "--format", "json"), ("explain", "--binlogs"), ("locate", "--xid", "1",
                                                                                      "--binlogs"),
                  ("explain", "--define-from-log", "--binlogs")):
        run(*words, log, terminal=terminal)
    snapshot = folder / "snapshot"
    if replayed(log, snapshot):
        return
    assert (snapshot / REPORT).exists()
    (folder / "other.sql").write_text("CREATE TABLE other.t (id INT PRIMARY KEY);\n")
    run("import", folder / "other.sql", "--output", folder / "other")
    for words in (("status", snapshot), ("report", snapshot), ("report", snapshot, "--html", folder / "page.html"),
                  ("export", snapshot, "--output", folder / "sql"), ("import", folder / "sql", "--output",
                                                                     folder / "again"),
                  ("export", snapshot, "--format", "tsv", "--output", folder / "tsv"), ("views", snapshot),
                  ("verify", snapshot, "--sql"), ("diff", folder / "other", snapshot),
                  ("diff", folder / "other", snapshot, "--format", "json"),
                  ("diff", folder / "other", snapshot, "--format", "sql", "--definitions")):
        code, _, error = run(*words, terminal=terminal)
        assert code == 0 or any(words[0] in verbs and why in error for verbs, why in REFUSED), words
    assert not OBEYED.search((folder / "page.html").read_text())


@pytest.mark.by_turns("number")
@pytest.mark.parametrize("number", range(len(RAW)))
@pytest.mark.parametrize("place", sorted(hostile_logs.PLACES))
def test_names_that_are_no_text(place, number, run, tmp_path):
    raw, flavour = RAW[number]
    log = tmp_path / "binlog.000001"
    hostile_logs.write_log(log, hostile_logs.PLACES[place], raw, flavour)
    every_verb(log, tmp_path, run, terminal=number % 2 == 0)


def renamed_in_table_maps(log, old, new):
    """A log with other bytes in its TABLE_MAP events."""
    data, at = bytearray(log), 4
    while at < len(data):
        size = int.from_bytes(data[at + 9:at + 13], "little")
        if data[at + 4] == EventType.TABLE_MAP:
            event = data[at:at + size - 4].replace(old, new)
            data[at:at + size] = event + zlib.crc32(event).to_bytes(4, "little")
        at += size
    return bytes(data)


@pytest.mark.by_turns("flavour")
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("old, new", [
    (b"\x01t\0", b"\x01\xff\0"), (b"\x01t\0", b"\x01\x1b\0"), (b"\x02md\0", b"\x02\xe2\x80\0"), (b"\x01t\0",
                                                                                                 b"\x01\0\0"),
    ("naïve name".encode(), b"\xff" * 11), ("naïve name".encode(), b"\x1b[2J\x1b]0;\x07\r\n"),
    (b"\x02\xc3\xa9\x01b", b"\x02\xff\xfe\x01b"), (b"\x0bna", b"\xffna"), (b"\x0bna", b"\x00na"),
])
def test_names_of_a_logs_metadata(flavour, old, new, run, tmp_path):
    """Tables, columns and labels as full metadata has them, of tables that nothing else defines."""
    case = CASES / {"mysql": "row-metadata-full", "mariadb": "row-metadata-full-mariadb"}[flavour]
    log = (case / "binlog.000001").read_bytes()
    assert old in log
    log = renamed_in_table_maps(log, b"\x02md\0\x01t\0", b"\x02md\0\x01T\0")  # T is none that a statement makes
    log = renamed_in_table_maps(log, old.replace(b"t", b"T") if len(old) == 3 else old, new)
    (tmp_path / "binlog.000001").write_bytes(log)
    every_verb(tmp_path / "binlog.000001", tmp_path, run, terminal=True)
    replayed(tmp_path / "binlog.000001", tmp_path / "defined", define_from_log=True)
    if (tmp_path / "defined").exists():
        run("status", tmp_path / "defined", terminal=True)
        assert run("export", tmp_path / "defined", "--output", tmp_path / "export")[0] == 0


@pytest.mark.by_turns("terminal")
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name)
def test_hostile_logs(log, terminal, run, tmp_path):
    every_verb(log, tmp_path, run, terminal)


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: path.name)
def test_hostile_dumps(dump, run, tmp_path):
    assert run("import", dump, "--output", tmp_path / "out")[0] in (1, 2) and os.listdir(tmp_path) == []


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("place", sorted(hostile_logs.PLACES))
def test_dumps_with_names_that_are_no_text(place, run, tmp_path):
    """And schema files."""
    sql = "CREATE DATABASE d; USE d; " + "; ".join(hostile_logs.PLACES[place]) + "; INSERT INTO d.t (a) VALUES (1);\n"
    for number, (raw, flavour) in enumerate(RAW):
        (tmp_path / "dump.sql").write_bytes(sql.encode().replace(b"RAW", raw[:3]))
        run("import", tmp_path / "dump.sql", "--flavour", flavour, "--output", tmp_path / str(number), terminal=True)
        run("explain", "--schema", tmp_path / "dump.sql", "--binlogs", LOGS[0])


LOCATIONS = ["foo://x", "a://b", "s3://b/a b", "file://host/x", "http://there/x", "://", "a\udcffb", "x" * 300, "", ".",
             "nothing", "file:///nowhere/at/all", "foo://x/*", "foo://x.index", "text", "snap/d"]


@pytest.mark.parametrize("words", [
    "show @", "show @ --format json", "locate --gtid 0-1-1 --binlogs @", "index @", "explain --binlogs @",
    "explain --binlogs LOG --base @", "explain --binlogs LOG --schema @", "import @ --output o",
    "import . --schema @ --output o",
    "export @ --output o", "status @", "report @",
])
def test_what_is_not_there(words, run, tmp_path, monkeypatch):
    """Every place that takes a path or a uri says in an error that there is nothing of that kind."""
    for location in LOCATIONS:
        folder = tmp_path / str(LOCATIONS.index(location))
        (folder / "snap" / "d").mkdir(parents=True)
        (folder / "text").write_text("x")
        monkeypatch.chdir(folder)
        asked = [location if word == "@" else LOGS[0] if word == "LOG" else word for word in words.split()]
        code, _, error = run(*asked)
        assert code in (1, 2) or (words.startswith("explain") and location in ("text", "")), (location, error)
        assert not (folder / "o").exists()


@pytest.mark.parametrize("options", [{"base": "foo://x"}, {"schema": "foo://x"}, {"output": "foo://x"},
                                     {"binlogs": ("foo://x",)}])
def test_a_replay_of_what_is_not_there(options, tmp_path):
    asked = {"binlogs": (str(LOGS[0]),), "output": str(tmp_path / "out")} | options
    with pytest.raises(ApplierError, match="cannot open foo://x") as error:
        replay_with(ThisProcess(1), ReplayOptions(**asked))
    assert error.value.exit_code == 2


SCRIPT = """
import json, sys
from applier import cli
cli.show_every_character()
codes = [cli.main(words) for words in json.load(open(sys.argv[1]))]
json.dump(codes, open(sys.argv[1], "w"))
"""


@pytest.mark.by_turns("encoding")
@pytest.mark.parametrize("encoding", [None, "ascii"])
def test_a_locale_without_letters(encoding, tmp_path):
    """LC_ALL=C, with what Python then takes for its output, and with an output of ASCII."""
    log = HOSTILE / "names.000001"
    assert replayed(log, tmp_path / "snapshot") == 0
    # no file for clients can have a name that ends in such a letter
    [refused] = [table.full_name for table in manifest.load(str(tmp_path / "snapshot")).tables if "😀" in table.name]
    words = [["show", str(log)], ["show", "--format", "json", str(log)], ["explain", "--binlogs", str(log)],
             ["locate", "--xid", "1", "--binlogs", str(log)], ["status", str(tmp_path / "snapshot")],
             ["report", str(tmp_path / "snapshot")], ["report", str(tmp_path / "snapshot"), "--html",
                                                      str(tmp_path / "é.html")],
             ["export", str(tmp_path / "snapshot"), "--output", str(tmp_path / "é"), "--ignore-tables", refused],
             ["import", str(tmp_path / "é"), "--output", str(tmp_path / "名")],
             # values that are too long for their columns
             ["status", str(tmp_path / "ü")]]
    (tmp_path / "words").write_text(json.dumps(words))
    environment = {name: value for name, value in os.environ.items() if not re.match("LC_|LANG|PYTHONIO|PYTHONUTF8",
                                                                                     name)}
    environment |= {"LC_ALL": "C", "PYTHONPATH": os.pathsep.join(sys.path)}
    if encoding is not None:
        environment["PYTHONIOENCODING"] = encoding
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path / "words")], capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    codes = json.loads((tmp_path / "words").read_text())
    assert codes[:3] == [0, 0, 0] and codes[4:] == [0, 0, 0, 0, 1, 2] and codes[3] in (0, 2), done.stderr.decode()
