"""Byte for byte what the servers' own programs print: rows as comments, with types, as BINLOG statements, and without
headers; and what a server gets of it."""

import io
import time

import pytest

from applier.cli import main
from applier.errors import UsageError
from applier.jobs.show import show
from applier.jobs.show.style import Style
from tests.recorded.show import tool_texts
from tests.recorded.show.tool_output import binlogs
from tests.support.folders import CASES

RECORDED = tool_texts.recorded()


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.by_turns("part")
@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("options", tool_texts.STYLES)
def test_every_byte_is_as_the_servers_own_program_prints_it(options, part):
    files = [name for name, found in RECORDED.items() if options in found]
    assert len(files) > 150
    for name in files[part::2]:
        assert tool_texts.shown(str(CASES / name), options) == RECORDED[name][options], name


def text(case: str, style: Style) -> str:
    out = io.TextIOWrapper(io.BytesIO())
    show(binlogs(case)[:1], "text", out, style=style)
    return out.buffer.getvalue().decode("utf-8", "surrogateescape")


def test_gtids_are_left_out():
    assert "GTID_NEXT=" in text("ddl-mysql", Style())
    shown = text("ddl-mysql", Style(skip_gtids=True))
    assert shown.count("GTID_NEXT=") == 1 and "/*!50616 SET @@SESSION.GTID_NEXT='AUTOMATIC'*//*!*/;" in shown
    assert "gtid_seq_no" not in text("ddl-mariadb", Style(skip_gtids=True))


def test_rows_are_an_error_with_never():
    with pytest.raises(UsageError, match="--base64-output never"):
        text("key-moves-full", Style("never"))


@pytest.mark.parametrize("case", ["statement-mysql", "statement-mariadb"])
def test_files_of_load_data_are_written_and_named(case, tmp_path):
    for round in range(2):
        shown = text(case, Style(local_load=str(tmp_path)))
        names = sorted(path.name for path in tmp_path.iterdir())
        assert len(names) == round + 1 and f"LOCAL INFILE '{tmp_path}/{names[-1]}'" in shown
    assert all(path.read_bytes().count(b"\n") >= 1 for path in tmp_path.iterdir())


def test_what_waits_for_the_end_of_a_statement_may_be_larger_than_memory(monkeypatch):
    """With little room everything is printed in parts, in the same order."""
    from applier.jobs.show import later_text

    whole = {case: text(case, Style("auto", 2)) for case in ("large-statements-mariadb", "compressed-mysql")}
    monkeypatch.setattr(later_text, "ROOM", 4096)
    monkeypatch.setattr(later_text, "IN_MEMORY", 10_000)
    for case, shown in whole.items():
        assert text(case, Style("auto", 2)) == shown


def test_a_log_from_stdin_into_a_file(tmp_path, monkeypatch, capfdbinary):
    path = binlogs("ddl-mysql")[0]
    with open(path, "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read())))
    assert main(["show", "-", "-vv", "-r", str(tmp_path / "out.sql")]) == 0
    assert main(["show", path, "-vv"]) == 0
    assert capfdbinary.readouterr().out == (tmp_path / "out.sql").read_bytes()
    assert main(["show", path, "-r", str(tmp_path / "out.sql")]) == 2


def test_events_are_passed_over(capfdbinary):
    path = binlogs("ddl-mysql")[0]
    assert main(["show", path]) == 0
    all_of_it = capfdbinary.readouterr().out
    assert main(["show", path, "-o", "5"]) == 0
    shown = capfdbinary.readouterr().out
    assert 0 < all_of_it.count(b"# at ") - shown.count(b"# at ") < 5  # the file's first event and the GTID are shown
    assert main(["show", path, "-o", "100000"]) == 0
    assert b"# at " not in capfdbinary.readouterr().out
