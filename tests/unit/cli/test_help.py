"""Help at 80 columns: a first screen of 25 lines, everything in a group, and nothing cut."""

import re

import pytest
import typer

from applier import cli
from applier.errors import UsageError
from applier.options.verbs import COMMANDS as VERBS
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.unit.cli.record_help import FOLDER, VERB_NAMES, WIDTHS, printed, recorded

COMMANDS = typer.main.get_command(cli.app).commands


@pytest.mark.parametrize("columns", WIDTHS)
def test_help_is_as_recorded(columns):
    """After a change that is meant: python -m tests.unit.cli.record_help"""
    for name, text in recorded(columns).items():
        assert text == (FOLDER / name).read_text(), "record it anew: python -m tests.unit.cli.record_help"


def test_each_verb_is_in_a_group():
    assert sorted(VERB_NAMES) == sorted(COMMANDS)


def test_each_option_is_in_one_group():
    """Whatever verb has it; those of `import`, `archive`, `show` and `changes` are about what to read, and a server may
    be read or compared."""
    groups = {}
    verbs = (verb for verb in VERBS if verb.name not in ("import", "archive", "show", "changes"))
    for option in (option for verb in verbs for option in verb.shown):
        groups.setdefault(option.flag, set()).add(option.group)
    assert groups.pop("--server") == groups.pop("--defaults-file") == {"What to read", "What to compare with"}
    assert [flag for flag, found in groups.items() if len(found) > 1] == []


def test_each_verb_takes_an_option_once():
    for verb in VERBS:
        flags = [flag for option in verb.shown for flag in option.names]
        assert len(flags) == len(set(flags)), verb.name


@pytest.mark.parametrize("verb", [None, *COMMANDS])
def test_the_first_screen_fits(verb):
    lines = printed(80, *[verb] * (verb is not None), "--help").splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 80


@pytest.mark.parametrize("verb", COMMANDS)
def test_no_text_is_cut(verb):
    """Every word of an option's help stands in --help-all, within 80 columns; the first screen names every option."""
    whole, first = printed(80, verb, "--help-all"), printed(80, verb, "--help")
    assert max(map(len, whole.splitlines())) <= 80
    words = re.sub(r"\s+", " ", whole)
    for param in (param for param in COMMANDS[verb].params if not param.hidden):
        assert re.sub(r"\s+", " ", param.help) in words
        if param.param_type_name == "option":
            assert next(name for name in param.opts if name.startswith("--")) in first


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS if verb.arguments])
def test_arguments_are_what_to_read(verb):
    """On both pages, also where no option says what to read."""
    for page in (printed(80, verb, "--help"), printed(80, verb, "--help-all")):
        first = re.search(r"^[A-Z][a-z ]+:\n  (\S+)", page, re.MULTILINE)
        assert first[0].startswith("What to read:\n") and not first[1].startswith("-")


@pytest.mark.parametrize("words", [["-h"], ["replay", "-h"], ["status", "--help-all"]])
def test_help_has_the_same_names_everywhere(words):
    assert "Usage: applier" in printed(80, *words)
    assert printed(80, *words[:-1], "-h") == printed(80, *words[:-1], "--help")


def test_without_a_verb_there_is_help(capsys):
    """Exit code 2: nothing was done."""
    for words in ([], ["-q"]):
        assert cli.main(words) == 2
        said = capsys.readouterr()
        assert "Usage: applier VERB" in said.out + said.err


def test_a_narrow_terminal_gets_help_too():
    assert "--stop-datetime" in printed(10, "replay", "--help") and printed(10, "--help") == printed(80, "--help")


@pytest.mark.parametrize("where", [["-q", "status"], ["status", "-q"], ["status", "--quiet"]])
def test_quiet_says_errors_only(where, tmp_path, capsys, monkeypatch):
    from applier.cli import terminal

    def notes(uri):
        with terminal.progress() as watcher:
            watcher.phase("read", 1, "files")
        terminal.print_note("something about it")
        raise UsageError("no such thing", file=uri)

    monkeypatch.setattr("applier.snapshot.manifest.load", notes)
    assert cli.main([*where, str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"applier: error: no such thing (at {tmp_path}).\n"
    assert cli.main(["status", str(tmp_path)]) == 2  # what one command line asked for is not asked for by the next one
    said = capsys.readouterr().err
    assert "read: 1 file" in said and "something about it" in said and "File" not in said


def test_verbose_says_where_in_the_code(tmp_path, capsys):
    assert cli.main(["status", "-v", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert 'manifest.py", line' in said and said.splitlines()[-1].startswith("applier: error: ")


OLD_NAMES = {
    "--tables": (["--table"], ["changes", "history", "show", "undo"]),
    "--gtids": (["--gtid"], ["changes", "show", "undo"]),
    "--server-ids": (["--server-id"], ["replay", "changes", "show", "doctor"]),
}


@pytest.mark.parametrize("name", OLD_NAMES)
def test_old_names_are_taken_and_not_shown(name):
    """One name for one thing is shown; command lines of before continue working."""
    old, verbs = OLD_NAMES[name]
    for verb in verbs:
        [names] = [param.opts for param in COMMANDS[verb].params if name in param.opts]
        assert names[0] == name and set(old) <= set(names)
        assert not re.search(rf"{old[0]}\b(?! GTID)", printed(80, verb, "--help-all"))


def test_binlogs_stand_without_a_name_as_before(capfdbinary):
    files = str(ARCHIVE / "binlog.000003")
    texts = []
    for words in (["--binlogs", files, "--start-position", "126", "--stop-datetime", "2030-01-01"],
                  [files, "--start", "126", "--stop", "2030-01-01"]):
        assert cli.main(["show", *words]) == 0
        texts.append(capfdbinary.readouterr().out)
    assert texts[0] == texts[1] != b""
    assert cli.main(["show"]) == cli.main(["index"]) == cli.main(["index", "--binlogs", "a", "b"]) == 2
    said = capfdbinary.readouterr().err
    assert said.count(b"give --binlogs PATH") == 2 and b"one at a time" in said
