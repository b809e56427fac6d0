"""Errors and notes name arguments as their reader knows them: Python's names out of functions, options elsewhere."""

import ast
import pickle
import re
from pathlib import Path

import pytest

import applier
from applier.cli import main
from applier.errors import ReplayStopped, UsageError, worded, wording
from applier.options import verbs
from applier.options.option import Verb
from tests.support.small_logs import CREATE

ROOT = Path(applier.__file__).parent
HELP = {f"options/{name}.py" for name in ("reading", "making", "choosing", "running", "verbs")}
"""Texts of --help, which `Verb.in_python_words` converts for Python's documentation."""
OTHERS = {
    "engine/spark/spark_private.py": "--conf", "jobs/exporting/job.py": ("#!", " --local-infile"),
    "jobs/pages/style.py": "\n:root", "jobs/server/connection.py": "pip install",
    "jobs/sync/health.py": "the file of --health", "options/changes.py": "--spreadsheet-safe",
    "options/snapshots.py": "leave out --data-only"}
"""Beginnings of literals that are no messages, or are about options that only the command line has."""
OPTION = re.compile(r"`[^`]*`|(?<![\w-])(--[a-z][a-z-]*)")


def literals(path):
    """Yield texts that may be for people and name options: string literals that are not docstrings, with {} in place of
    values."""
    text = path.read_text()
    if not any(OPTION.findall(text)):
        return
    tree = ast.parse(text)
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            passed |= {id(part) for part in node.values}
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            yield node.value


def test_every_option_in_a_message_has_a_name_in_python():
    """Or is in backticks, with its command: `mysqlbinlog --raw`."""
    found = []
    for path in ROOT.rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("cli/") or name in HELP:
            continue
        for text in literals(path):
            left = [option for option in OPTION.findall(worded(text)) if option]
            if left and not text.startswith(OTHERS.get(name, ())):
                found.append(f"{name}: {left[0]} in {text!r}")
    assert not found


@pytest.mark.parametrize("text, in_python", [
    ("stop before it with --stop-position, or leave it out with --ignore-tables",
     "stop before it with `stop`, or leave it out with `ignore_tables`"),
    ("to stop before it: --stop-position binlog.000003:1234", 'to stop before it: `stop="binlog.000003:1234"`'),
    ("--start-position b.000003:POSITION; --on-statement skip", '`start="b.000003:POSITION"`; `on_statement="skip"`'),
    ("--unsigned-bigint decimal or long, --engine of Spark", '`unsigned_bigint="decimal"` or long, `engine` of Spark'),
    ("--key-file FILE, --datetime, --thread 5", '`key_file="FILE"`, `time`, `thread_ids` 5'),
    ("`applier locate --gtid …` and `--keep`; --skip-tz-utc", "`applier locate --gtid …` and `--keep`; --skip-tz-utc"),
    ("a --base, --base's, x--base", "a `base`, `base`'s, x--base")])
def test_options_by_their_names_in_python(text, in_python):
    assert worded(text) == in_python and worded(in_python) == in_python
    with wording(of_command_line=True):
        assert worded(text) == text


def test_an_error_is_worded_for_who_reads_it():
    """Also after a way from another process, and with what was added to it."""
    error = pickle.loads(pickle.dumps(ReplayStopped("--tables a.b: no such table", hint="leave out --tables")))
    error.hint = f"{error.hint}, or give --schema"
    error.listed += ("--base",)
    assert str(error) == "`tables` a.b: no such table. hint: leave out `tables`, or give `schema`\n  `base`"
    with wording(of_command_line=True):
        assert str(ReplayStopped("x", hint="leave out --tables")) == "x. hint: leave out --tables"


def test_both_doors(tmp_path, capsys, monkeypatch):
    """The same mistake, and a note about the same thing."""
    monkeypatch.chdir(tmp_path)
    with applier.binlog.Writer("b.000001") as log:
        log.query(CREATE, "shop")
    with pytest.raises(UsageError) as raised:
        applier.replay("b.000001", "out", stop="b.000009:4")
    assert raised.value.message.startswith("`stop` names b.000009")
    assert main(["replay", "--binlogs", "b.000001", "--output", "out", "--stop-position", "b.000009:4"]) == 2
    assert "error: --stop-position names b.000009" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"^`output` cannot be '', which is empty"):
        applier.replay("b.000001", "")
    steps = []
    made = applier.replay("b.000001", "out", tables="shop.item,shop.no", progress=steps.append)
    note = "`tables` shop.no: no such table is in the log, `schema` or `base`"
    assert note in made.report.notes and note in [step.note for step in steps]
    assert main(["replay", "--binlogs", "b.000001", "--output", "again", "--tables", "shop.item,shop.no"]) == 0
    assert "--tables shop.no: no such table is in the log, --schema or --base" in capsys.readouterr().err
    assert main(["verify", "out", "--hash", "crc32", "--against", ""]) == 2
    assert "--against cannot be" in capsys.readouterr().err


def test_names_that_differ_between_verbs_are_few():
    """An error does not know which function was called: where names differ, the first verb's is taken."""
    known = [verb for verb in vars(verbs).values() if isinstance(verb, Verb) and verb not in (verbs.SHOW, verbs.INDEX)]
    common = {flag: name for verb in reversed(known) for flag, (name, _) in verb.python_names.items()}
    assert [(verb.name, flag, name) for verb in known for flag, (name, _) in verb.python_names.items()
            if name != common[flag]] == [("changes", "--tables", "table"), ("history", "--tables", "table")]
