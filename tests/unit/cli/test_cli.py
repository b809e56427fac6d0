import os
import subprocess
import sys
import types

import pytest

import applier.jobs.on_engine
from applier import cli
from applier.errors import KEY_NOT_FOUND, MissingFile, ReplayStopped
from applier.jobs.replay.result import ReplayResult, TableResult
from applier.snapshot import manifest
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.folders import ROOT


@pytest.fixture
def asked(monkeypatch):
    """A replay that does nothing but keep what it was asked for; `asked.error` is what it raises."""
    record = types.SimpleNamespace(options=None, error=None)

    def replay(options, progress):
        record.options = options
        progress.phase("outline", 2, "files")
        progress.update(2, rows=10)
        progress.note("a torn tail is left out")
        if record.error is not None:
            raise record.error
        tables = (TableResult("shop", "[red]orders", 1234567, 5, 6, 7, "PRIMARY (id)", 2, 3),)
        return [ReplayResult(options.output, "binlog.000002:77", "u:1-9", 1773484199, tables,
                             {"outline": 0.5, "apply": 1.0})]

    module = types.ModuleType("applier.jobs.on_engine.replaying")
    module.replay = replay
    monkeypatch.setitem(sys.modules, "applier.jobs.on_engine.replaying", module)
    monkeypatch.setattr(applier.jobs.on_engine, "replaying", module, raising=False)
    return record


def test_replay_passes_every_option_on(asked, capsys):
    code = cli.main([
        "replay", "--binlogs", "a", "b", "--binlogs", "c", "--output", "out", "--base", "old", "--schema", "s.sql",
        "--exec-mode", "strict", "--stop-position", "binlog.000002:77", "--tables", "shop,crm.people",
        "--ignore-tables", "shop.logs", "--ignore-tables", "x", "--zero-dates", "error", "--on-statement", "skip",
        "--start-position", "binlog.000001:4", "--route", "shuffle",
        "--master", "spark://h:7077"])
    assert code == 0
    options = asked.options
    assert options.binlogs == ("a", "b", "c")
    assert (options.output, options.base, options.schema, options.master) == ("out", "old", "s.sql", "spark://h:7077")
    assert (options.stop_position, options.stop_gtid, options.stop_datetime) == (("binlog.000002", 77), None, None)
    assert options.filter.tables == (("shop", None), ("crm", "people"))
    assert options.filter.ignored == (("shop", "logs"), ("x", None))
    assert (options.zero_dates, options.route, options.on_statement) == ("error", "shuffle", "skip")
    assert options.start_position == ("binlog.000001", 4)


def test_replay_prints_results_to_stdout_and_log_lines_to_stderr(asked, capsys):
    assert cli.main(["replay", "--binlogs", "a", "--output", "out"]) == 0
    shown = capsys.readouterr()
    assert "shop.[red]orders" in shown.out and "1,234,567" in shown.out and "PRIMARY (id)" in shown.out
    assert "out stands at binlog.000002:77 (2026-03-14 10:29:59 UTC)" in shown.out
    assert "18 row changes in 1.5 s (outline 0.5, apply 1.0)" in shown.out
    assert "outline: 2 files" in shown.err and "a torn tail is left out" in shown.err and "10 rows" in shown.err
    assert "\x1b" not in shown.out + shown.err


@pytest.mark.parametrize("error, code", [
    (ReplayStopped("row not found", file="binlog.000002", position=70, errno=KEY_NOT_FOUND), 1),
    (MissingFile("binlog.000002 is missing"), 2),
    (FileNotFoundError(2, "No such file or directory", "/nowhere/binlog.000001"), 2),
    (OSError("a bucket that is not there"), 2),
])
def test_errors_become_exit_codes(asked, capsys, error, code):
    asked.error = error
    assert cli.main(["replay", "--binlogs", "a", "--output", "out"]) == code
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("applier: error: ")]
    assert len(lines) == 1
    if isinstance(error, FileNotFoundError):
        assert lines == ["applier: error: No such file or directory (at /nowhere/binlog.000001)."]


def test_a_defect_is_not_swallowed(asked):
    asked.error = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        cli.main(["replay", "--binlogs", "a", "--output", "out"])


def test_a_defect_has_an_exit_code_of_its_own(asked, monkeypatch, capsys):
    asked.error = ZeroDivisionError()
    monkeypatch.setattr(sys, "argv", ["applier", "replay", "--binlogs", "a", "--output", "out"])
    left = []
    monkeypatch.setattr(cli, "leave", left.append)
    cli.console()
    assert left == [cli.INTERNAL_ERROR]
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("argv, says", [
    (["replay", "--output", "x"], "--binlogs"),
    (["replay", "--binlogs", "a"], "--output"),
    (["replay", "--binlogs", "a", "--output", "x", "--exec-mode", "lax"], "lax"),
    (["replay", "--binlogs", "a", "--output", "x", "--stop-gtid", "u:1", "--stop-datetime", "2026-01-01"], "one of"),
    (["replay", "--binlogs", "a", "--output", "x", "--stop-position", "12"], "not a position"),
    (["replay", "a", "--binlogs", "a", "--output", "x"], "a"),
    (["frobnicate"], "frobnicate"),
    (["status", "/nowhere/at/all"], "not a complete snapshot"),
])
def test_bad_usage_is_exit_2_and_says_what(asked, capsys, argv, says):
    assert cli.main(argv) == 2
    assert says in capsys.readouterr().err
    assert asked.options is None


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"applier {applier.__version__}\n"


@pytest.mark.parametrize("argv", [["--help"], ["replay", "--help"], ["status", "--help"], ["show", "--help"]])
def test_help_teaches(argv, capsys):
    assert cli.main(argv) == 0
    assert "Usage: applier" in capsys.readouterr().out


def test_help_and_status_import_neither_numba_nor_spark(tmp_path):
    """A user that asks for help or a snapshot's position waits for neither."""
    program = """if True:
        import sys
        from applier.cli import main
        for argv in (["--help"], ["replay", "--help"], ["status", sys.argv[1]]):
            assert main(argv) == 0
        print(sorted({"numba", "pyspark", "pandas", "sqlglot"} & set(sys.modules)))
    """
    snapshot = manifest.Snapshot(manifest.BinlogPosition("binlog.000001", 4, "", None, "mariadb"), ())
    (tmp_path / "_snapshot.json").write_bytes(snapshot.to_json())
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("argv, code", [(["--version"], 0), (["status", "/nowhere"], 2)])
def test_the_console_script_ends_with_its_code_and_all_that_was_printed(argv, code):
    """It does not wait for the interpreter to be taken apart; nothing that was registered or buffered is lost."""
    program = "import atexit, sys; from applier import cli; atexit.register(print, 'last'); cli.console()"
    done = subprocess.run([sys.executable, "-c", program, *argv], capture_output=True, text=True)
    assert done.returncode == code and done.stdout.endswith("last\n")
    assert ("applier 0" in done.stdout) if code == 0 else ("/nowhere" in done.stderr)


@pytest.mark.by_turns("to", one_in=2)
@pytest.mark.parametrize("words, code", [
    (["status", "."], 0), (["status", ".", "--json"], 0), (["status", "nowhere"], 2), (["replay", "--help-all"], 0),
    (["show", "--binlogs", str(ARCHIVE / "binlog.000003")], 0), (["summary", "--json", "--binlogs", str(ARCHIVE)], 0),
])
@pytest.mark.parametrize("to", ["stdout", "stderr"])
def test_nobody_reads_what_is_printed(words, code, to, tmp_path):
    """As with `| head`: neither a traceback nor another exit code comes of it."""
    snapshot = manifest.Snapshot(manifest.BinlogPosition("binlog.000001", 4, "", None, "mariadb"), ())
    (tmp_path / "_snapshot.json").write_bytes(snapshot.to_json())
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {to: writer}
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.Popen([sys.executable, "-m", "applier", *words], cwd=tmp_path, env=environment, text=True,
                           errors="replace", **streams)
    os.close(writer)
    said = run.communicate()[to == "stdout"]
    assert run.returncode == code and "Traceback" not in said
