"""The commands in README and docs do what the pages show, and none has an option that there is not."""

import contextlib
import re
import time

import pytest
import typer

from applier.cli import application
from applier.cli.loudness import Loudness, choose
from tests.support import documented
from tests.support.folders import ROOT
from tests.support.page_beginnings import beginning

GROUP = typer.main.get_command(application.app)
VERBS = GROUP.commands


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """The working directory of somebody who follows a page, in UTC."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def as_loud_as_before():
    """What reads a `-q` chooses for the process."""
    yield
    choose(Loudness.NORMAL)


@pytest.mark.by_turns(one_in=2)
@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in documented.PAGES if list(documented.runnable(page))], ids=name_of)
def test_what_runs_prints_what_the_page_shows(page, reader):
    known = {}
    with beginning(page), contextlib.ExitStack() as beside:
        for part in documented.runnable(page):
            if isinstance(part, str):
                documented.run_doctest(part, name_of(page), known)
            else:
                for shown in part:
                    documented.run(shown, beside)


@pytest.mark.parametrize("page", documented.PAGES, ids=name_of)
def test_every_command_line_is_one_that_the_program_takes(page, monkeypatch, capsys, as_loud_as_before):
    for verb in VERBS.values():
        monkeypatch.setattr(verb, "callback", lambda **given: None)
    for words in documented.command_lines(page, set(VERBS)):
        try:
            GROUP.main(words, standalone_mode=False)
        except typer.TyperException as error:
            pytest.fail(f"applier {' '.join(words)}: {error.format_message()}")
    for verb, options in documented.named_options(page, set(VERBS)):
        known = {name for param in VERBS[verb].params for name in (*param.opts, *param.secondary_opts)}
        assert set(options) <= known | {"--help", "--help-all"}, verb


def test_targets_of_make_are_there():
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {target for page in documented.PAGES for target in documented.targets(page)} <= known
