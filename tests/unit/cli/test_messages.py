"""What people are told who ask for the wrong thing: the fault, and what to do."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

import applier
from applier import cli
from applier.mysql.values.time_zones import parse_datetime
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.folders import CASES, ROOT

pytestmark = pytest.mark.slow


def told(argv, capsys, code=2):
    assert cli.main(list(map(str, argv))) == code
    shown = capsys.readouterr()
    return " ".join((shown.out + shown.err).split())


def test_a_base_that_was_made_of_some_tables(tmp_path, capsys):
    """AP-FILT: of another table it has no rows, so the same choice is to be made again."""
    applier.replay(ARCHIVE, tmp_path / "base", tables=["shop.orders"], stop=("binlog.000002", 4))
    argv = ["replay", "--binlogs", ARCHIVE, "--base", tmp_path / "base", "--output", tmp_path / "out"]
    assert "the base was made without it: give the same --tables shop.orders here" in told(argv, capsys, code=1)
    applier.replay(ARCHIVE, tmp_path / "but one", ignore_tables=["shop.order_items"], stop=("binlog.000002", 4))
    argv = ["replay", "--binlogs", ARCHIVE, "--base", tmp_path / "but one", "--output", tmp_path / "out"]
    assert "give the same --ignore-tables shop.order_items here" in told(argv, capsys, code=1)


def test_a_table_that_nothing_defines_where_the_base_is_whole(tmp_path, capsys):
    """The base's choice is not blamed."""
    argv = ["replay", "--binlogs", *sorted(ARCHIVE.glob("binlog.000002")), "--output", tmp_path / "out"]
    assert "give its CREATE TABLE as of the first binlog" in told(argv, capsys, code=1)


def test_a_folder_of_several_snapshots(tmp_path, capsys):
    places = [("binlog.000001", 200_000), ("binlog.000002", 200_000)]
    applier.replay(ARCHIVE, tmp_path / "at", snapshot_at=places)
    names = ", ".join(sorted(path.name for path in (tmp_path / "at").iterdir() if path.is_dir()))
    for argv in (["status", tmp_path / "at"],
                 ["replay", "--base", tmp_path / "at", "--binlogs", ARCHIVE, "--output", tmp_path / "out"]):
        said = told(argv, capsys)
        assert "this folder contains several snapshots" in said and f"give one of them: {names}" in said


@pytest.mark.parametrize("stop", [["--stop-datetime", "2001-01-01 00:00:00"], ["--stop-position", "binlog.000001:4"]])
@pytest.mark.parametrize("verb", [["replay"], ["changes", "--tables", "shop.orders"], ["history", "--table",
                                                                                       "shop.orders"]])
def test_a_stop_before_the_first_event_group(verb, stop, tmp_path, capsys):
    """GRP-2: it leaves nothing."""
    said = told([*verb, "--binlogs", ARCHIVE, "--output", tmp_path / "out", *stop], capsys)
    assert "these binlogs contain nothing before the place to stop" in said and "binlog.000001:158" in said
    assert not (tmp_path / "out").exists()


def test_a_dump_whose_transactions_are_not_known(tmp_path, capsys):
    """A position without a GTID set is one, of MariaDB's dumps, too; what is unknown is not none."""
    text = (CASES / "base-dump-mariadb" / "base.sql").read_text()
    (tmp_path / "dump.sql").write_text(re.sub(r"-- SET GLOBAL gtid_slave_pos=.*?;", "", text))
    argv = ["import", tmp_path / "dump.sql", "--output", tmp_path / "base"]
    said = told(argv, capsys, code=0)
    assert "the dump does not name the transactions that are in it" in said and "--gtid-set" in said
    assert cli.main(["status", str(tmp_path / "base")]) == 0
    assert re.search(r"GTID set\s+unknown", capsys.readouterr().out)


def test_an_interrupt_leaves_nothing_and_says_so(tmp_path):
    """Ctrl-C while a dump comes on stdin, of which more is read than what is looked at before the import begins."""
    run = subprocess.Popen([sys.executable, "-m", "applier", "import", "-", "--output", "out"], cwd=tmp_path, text=True,
                           env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    run.stdin.write("-- no statement\n" * 400_000)  # which ends when all but what a pipe holds is read
    run.stdin.flush()
    run.send_signal(signal.SIGINT)
    assert run.stderr.read().splitlines()[-1] == "applier: interrupted: nothing was written"
    assert (run.wait(), os.listdir(tmp_path)) == (130, [])


@pytest.mark.parametrize("output", [["--output", "-"], []])
def test_an_interrupt_of_what_goes_to_stdout(output, tmp_path):
    """What was printed before it is there. The verb is one that waits."""
    program = ("import os, signal, time; import applier.cli as cli; "
               "signal.signal(signal.SIGINT, signal.default_int_handler); "
               "cli.main = lambda _: (os.kill(os.getpid(), signal.SIGINT), time.sleep(60)); cli.console()")
    done = subprocess.run([sys.executable, "-c", program, "changes", "--binlogs", "x", *output], cwd=tmp_path,
                          env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stderr) == (130, "applier: interrupted\n")


@pytest.mark.parametrize("zone, here", [("UTC", ""), ("Asia/Tokyo", ", 2026-03-14 02:02:39 here")])
def test_times_are_shown_as_they_are_taken(zone, here, tmp_path, monkeypatch, capsys):
    """In UTC, and beside it as this machine's clock says."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        [group] = applier.locate(ARCHIVE, gtid="20810cc3-e548-11f1-a5e4-02fc00000001:14")
        assert cli.main(["locate", "--binlogs", str(ARCHIVE), "--gtid", group.gtid]) == 0
        shown = re.search(r"^time\s+(.* UTC)(.*)$", capsys.readouterr().out, re.M)
        assert parse_datetime(shown[1]) == group.timestamp and bool(shown[2]) == bool(here)
        assert not here or parse_datetime(shown[2].removeprefix(", ").removesuffix(" here")) == group.timestamp
        assert cli.main(["summary", "--binlogs", str(ARCHIVE), "--html", str(tmp_path / "summary.html")]) == 0
        applier.replay(ARCHIVE, tmp_path / "made")
        assert cli.main(["report", str(tmp_path / "made"), "--html", str(tmp_path / "report.html")]) == 0
        texts = [capsys.readouterr().out, *((tmp_path / page).read_text() for page in ("summary.html", "report.html"))]
        for text in texts:
            assert (" here" in " ".join(text.split())) == bool(here)
    finally:
        monkeypatch.undo()
        time.tzset()
