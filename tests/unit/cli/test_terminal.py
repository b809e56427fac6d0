import io
import re

import pytest
from rich.console import Console

from applier.cli import terminal
from applier.errors import ReplayStopped


def shown(watcher, act):
    console = Console(file=io.StringIO(), force_terminal=watcher is terminal.TerminalProgress, width=100)
    with watcher(console) as progress:
        act(progress)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue())


def two_phases(progress):
    progress.update(1)  # before any phase: nothing to show, no error
    progress.phase("outline", 3, "files")
    progress.update(2)
    progress.phase("apply", 0, "units")
    progress.update(5, rows=1000)
    progress.note("[b]kept as it is[/b]")


def test_bars_show_phases_counts_and_notes():
    text = shown(terminal.TerminalProgress, two_phases)
    last_frame = text[text.rindex("outline"):]
    assert re.search(r"outline .*3/3 files", last_frame)
    assert re.search(r"apply .* 5 units +[\d,]+ rows/s", last_frame)
    assert "[b]kept as it is[/b]" in text


def test_nothing_is_counted_before_something_is_done():
    """While Java boots there is no 0/5."""
    def waits(progress):
        progress.phase("outline", 5, "files of 1.2 GB")
        progress.update(0)
        progress.note("waiting for Spark to start")
        raise ZeroDivisionError

    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with pytest.raises(ZeroDivisionError), terminal.TerminalProgress(console) as progress:
        waits(progress)
    text = console.file.getvalue()
    assert "5 files of 1.2 GB" in text and "waiting for Spark to start" in text and "0/5" not in text


@pytest.mark.parametrize("watcher", [terminal.TerminalProgress, terminal.LogProgress])
def test_one_item_is_told_in_the_singular(watcher):
    assert re.search(r"1 kernel(?!s)", shown(watcher, lambda progress: progress.phase("compile", 1, "kernels")))


def test_log_lines_say_when_a_phase_begins_and_ends():
    lines = [line[9:] for line in shown(terminal.LogProgress, two_phases).splitlines()]
    assert lines[0] == "outline: 3 files"
    assert re.fullmatch(r"outline: done in \d+\.\d s", lines[1])
    assert lines[2:4] == ["apply", "[b]kept as it is[/b]"]
    assert re.fullmatch(r"apply: done in \d+\.\d s, 1,000 rows", lines[4])


def test_log_says_now_and_then_where_it_stands(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])

    def slow(progress):
        progress.phase("apply", 10, "units")
        now[0] += 11
        progress.update(0)
        now[0] += 5
        progress.update(1, rows=10)
        now[0] += 15
        progress.update(4, rows=4000)
        now[0] += 1
        progress.update(5, rows=5000)

    lines = [line[9:] for line in shown(terminal.LogProgress, slow).splitlines()]
    assert lines == ["apply: 10 units", "apply: none of 10 units yet", "apply: 4 of 10 units, 129 rows/s, 46 s left",
                     "apply: done in 32.0 s, 5,000 rows"]


def test_a_phase_that_failed_is_not_called_done():
    def fails(progress):
        progress.phase("apply", 10, "units")
        raise ZeroDivisionError

    console = Console(file=io.StringIO())
    try:
        with terminal.LogProgress(console) as progress:
            fails(progress)
    except ZeroDivisionError:
        pass
    assert "done" not in console.file.getvalue()


def test_what_an_error_lists_are_lines_below_it(capsys):
    """Of text from outside a line feed is none."""
    error = ReplayStopped("2 rows", hint="look there")
    error.listed = ("id=1", "name=x\napplier: error: another")
    terminal.print_error(error)
    assert capsys.readouterr().err == ("applier: error: 2 rows. hint: look there\n  id=1\n"
                                       "  name=x\\x0aapplier: error: another\n")


def test_errors_are_one_line_in_a_log(capsys):
    terminal.print_error(ReplayStopped("row not found", table="a.b", hint="look there"))
    assert capsys.readouterr().err == "applier: error: row not found (table a.b). hint: look there\n"
