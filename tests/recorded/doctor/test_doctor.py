"""A doctor finds a problem where a replay stops before its first row, and only there; on logs of real servers."""

import json
import re
import shutil
import subprocess
import sys

import pytest

import applier
from applier import cli
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError, UsageError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from keysearch import kernel_cache
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.folders import RECORDED
from tests.support.packing import pack_archive
from tests.support.real_server import Case

ENCRYPTED = RECORDED / "encrypted"


def states(found):
    """Each check's worst state, by its name."""
    worst = {}
    for check in found.checks:
        worst[check.name] = max(worst.get(check.name, ""), check.state)  # note < ok < problem
    return worst


def check(found, name):
    return next(one for one in found.checks if one.name == name)


@pytest.fixture
def logs(tmp_path):
    """The demo's archive, to be damaged."""
    shutil.copytree(ARCHIVE, tmp_path / "logs", ignore=shutil.ignore_patterns("*.json"))
    return tmp_path / "logs"


def doctored(*arguments):
    """The command line's exit code."""
    return cli.main(["doctor", *map(str, arguments)])


def test_a_whole_archive_is_well(logs, tmp_path, capsys):
    """Exit code 0, one line per check; where the output would be, nothing is left."""
    assert doctored("--binlogs", logs, "--output", tmp_path / "new" / "out", "--engine", "local") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "nothing stops a replay before its first row"
    names = [line.split(": ")[1] for line in lines[:-1]]
    assert set(names) >= {"kernels", "Java", "memory", "temporary files", "output", "files", "heads", "encryption",
                          "checksums", "packing", "log", "GTIDs", "formats", "definitions", "columns", "images",
                          "metadata", "keys", "compression", "cost", "engine"}
    assert not any(line.startswith("problem") for line in lines)
    assert not (tmp_path / "new").exists()


def test_json_has_the_problems_and_what_to_do(logs, capsys):
    (logs / "binlog.000002").unlink()
    assert doctored("--binlogs", logs, "--json") == 2
    found = json.loads(capsys.readouterr().out)
    assert found["problems"] == 1
    [problem] = [one for one in found["checks"] if one["state"] == "problem"]
    assert problem["name"] == "files" and "binlog.000002 is missing" in problem["found"]
    assert [one["state"] for one in found["checks"] if one["name"] == "definitions"] == ["ok"], "up to the gap"


def test_on_a_terminal_of_80_columns_nothing_is_cut_off(logs, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert doctored("--binlogs", logs / "binlog.000003") == 2
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert "a table that has no definition" in text and "with --schema" in text and "1 problem would stop a" in text


def damage(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize("at, name, what", [
    (0, "heads", "this is not a binlog"), (30, "heads", "the checksum of a FORMAT_DESCRIPTION event does not match"),
    (140, "heads", "the checksum of a PREVIOUS_GTIDS event does not match"),
    (60_000, "log", "does not match")])
def test_damage_is_a_problem_of_its_place(at, name, what, logs):
    """GRP-5: the first events of each file, and all that follow."""
    damage(logs / "binlog.000002", at)
    found = applier.doctor(logs)
    [problem] = found.problems
    assert problem.name == name and what in problem.found and "binlog.000002" in problem.found and problem.to_do


def test_damage_that_a_replay_does_not_read_is_a_note(logs, tmp_path):
    """Files before the base's: a replay onto it does not open them."""
    applier.replay(logs, tmp_path / "base", stop="binlog.000002:745606")
    damage(logs / "binlog.000001", 30)
    found = applier.doctor(logs, tmp_path / "out", base=tmp_path / "base")
    assert not found.problems and states(found)["heads"] == "note"
    applier.replay(logs, tmp_path / "out", base=tmp_path / "base")
    assert applier.doctor(logs).problems


def test_transactions_that_are_missing_are_named(logs, tmp_path):
    """Between files, and between the base and the archive's beginning (1236)."""
    other = Case("many-files-mysql").binlogs
    (logs / "binlog.000003").write_bytes(other[0].read_bytes())
    [problem] = applier.doctor(logs).problems
    assert problem.name == "log" and "1236" in problem.found
    shutil.copy(ARCHIVE / "binlog.000003", logs)
    applier.replay(logs / "binlog.000001", tmp_path / "base")
    [problem] = applier.doctor(logs / "binlog.000003", base=tmp_path / "base").problems
    assert "1236" in problem.found and states(applier.doctor(logs, base=tmp_path / "base"))["GTIDs"] == "ok"


def test_several_places_are_looked_at_as_a_replay_goes_to_them(logs, tmp_path):
    """--snapshot-at: up to the last of them, by what stops a replay, and no file after them."""
    places = ["binlog.000001:154", "binlog.000002:745606"]
    assert doctored("--binlogs", logs, "--snapshot-at", ",".join(places), "--output", tmp_path / "out") == 2, \
        "nothing is before the first"
    applier.replay(logs, tmp_path / "base", stop=places[1])
    for arguments, what in (({"snapshot_at": places}, "these binlogs contain nothing before the place to stop"),
                            ({"snapshot_at": ["binlog.000009:4"]}, "--snapshot-at names binlog.000009"),
                            ({"snapshot_at": ["binlog.000001:745606"], "base": tmp_path / "base"}, "precedes")):
        [problem] = applier.doctor(logs, tmp_path / "out", **arguments).problems
        assert what in problem.found
        with pytest.raises(ApplierError, match=what):
            applier.replay(logs, tmp_path / "out", **arguments)
    (logs / "binlog.000003").write_bytes(b"no log")
    found = applier.doctor(logs, tmp_path / "out", snapshot_at=["binlog.000002:745606", "binlog.000002:1000"])
    assert not found.problems
    assert check(found, "places").found == "2: binlog.000002:1000, binlog.000002:745606"
    assert "to binlog.000002:745606" in check(found, "log").found


def test_a_replay_costs_as_it_is_asked_to_go(logs, tmp_path, capsys):
    """--route and --pass-bytes are in what it costs; --unsigned-bigint must be the base's."""
    assert doctored("--binlogs", logs, "--route", "shuffle", "--pass-bytes", "1M", "--engine", "local") == 0
    [cost] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("ok: cost")]
    assert cost.endswith("by route shuffle, in 3 passes")
    assert "by route walk" in check(applier.doctor(logs, route="walk"), "cost").found
    applier.replay(logs, tmp_path / "base", stop="binlog.000002:745606", unsigned_bigint="long")
    [problem] = applier.doctor(logs, base=tmp_path / "base", unsigned_bigint="uint64").problems
    assert problem.name == "base"
    with pytest.raises(ApplierError) as stopped:
        applier.replay(logs, tmp_path / "out", base=tmp_path / "base", unsigned_bigint="uint64")
    assert problem.found in str(stopped.value)


def test_a_base_must_be_whole(logs, tmp_path):
    base = applier.replay(logs, tmp_path / "base", stop="binlog.000002:745606").snapshot
    found = applier.doctor(logs, base=base)
    assert not found.problems and "its files are there" in check(found, "base").found
    next((tmp_path / "base" / "shop" / "orders").glob("*.parquet")).unlink()
    [problem] = applier.doctor(logs, base=base).problems
    assert problem.name == "base" and "missing" in problem.found


@pytest.mark.parametrize("name", ["statement-mysql", "statement-mariadb", "statement-mysql-mixed"])
def test_changes_as_statements_are_a_problem_or_counted(name):
    """EV-QUERY: as the replay says it; with --on-statement skip they are a note."""
    logs = Case(name).binlogs
    found = applier.doctor(logs)
    assert [problem.name for problem in found.problems] == ["formats"]
    assert any(one.name == "formats" and one.state == "note" and "logged as statements" in one.found
               for one in found.checks), "how many there are"
    found = applier.doctor(logs, on_statement="skip")
    assert not found.problems and states(found)["formats"] == "note"


def test_definitions_that_are_missing_are_named_together(logs):
    """1146: all tables of the log that neither it nor --schema defines."""
    found = applier.doctor(logs / "binlog.000003")
    [problem] = found.problems
    assert problem.name == "definitions" and "--schema" in problem.to_do
    assert all(name in problem.found for name in ("shop.orders", "shop.order_items", "shop.stock", "shop.customers"))
    [problem] = applier.doctor(logs, tables="shop.oders").problems
    assert problem.name == "tables" and "shop.oders" in problem.found
    assert states(applier.doctor(logs, tables="shop.orders,shop.oders"))["tables"] == "note"


def test_packed_and_encrypted_archives(tmp_path):
    """MySQL's and MariaDB's keys; without them the files are named."""
    pack_archive(ARCHIVE.glob("binlog.0*"), tmp_path / "packed", ["gzip", None])
    found = applier.doctor(tmp_path / "packed")
    assert not found.problems and check(found, "packing").found == "2 of 3 files are packed"
    assert "are needed" in check(found, "temporary files").found
    logs = sorted((ENCRYPTED / "mysql").glob("binlog.0*"))
    problems = applier.doctor(logs).problems
    assert {problem.name for problem in problems} == {"encryption"} and "--keyring" in problems[0].to_do
    keyrings = [ENCRYPTED / "mysql" / name for name in ("keys.first", "keys.second")]
    found = applier.doctor(logs, keyring=keyrings)
    assert not found.problems and "the keys are given" in check(found, "encryption").found


@pytest.mark.parametrize("name", ["mysql", "mysql-servers", "mariadb", "mariadb-servers"])
def test_what_is_left_out_is_a_note_and_nothing_left_out_a_problem(name, capsys):
    """AP-SKIP: what only a group that is left out would stop is no problem, as of a replay."""
    folder = RECORDED / "left_out" / name
    case = json.loads((folder / "case.json").read_text())
    options = [word for option in ("exclude_gtids", "ignore_server_ids") if option in case
               for word in (f"--{option.replace('_', '-')}", ",".join(map(str, case[option]))
                            if isinstance(case[option], list) else case[option])]
    assert doctored("--binlogs", folder, *options) == 0
    said = capsys.readouterr().out
    assert "note: transactions: left out:" in said and options[1][:8] in said
    assert doctored("--binlogs", folder, "--ignore-server-ids", "4294967295") == 2
    assert "no transaction of these binlogs is of --ignore-server-ids 4294967295" in capsys.readouterr().out


def test_images_metadata_compression_and_checksums():
    """As each log has them."""
    def of(name):
        return applier.doctor(Case(name).binlogs)

    assert check(of("many-files-mysql"), "images").found.startswith("full")
    assert check(of("row-image-minimal"), "images").found.startswith("partial")
    assert "partial JSON" in check(of("json-partial-full"), "images").found
    assert check(of("row-metadata-full"), "metadata").found.startswith("full")
    assert "% of" in check(of("compressed-mysql"), "compression").found
    assert check(of("large-statements-checksum-none"), "checksums").state == "note"
    assert check(of("transactions-mysql-nogtid"), "GTIDs").state == "note"


def test_columns_that_do_not_fit_are_a_problem(tmp_path):
    """1677: each table that differs, before a row of it is read."""
    case = Case("target-types-none")
    base = applier.import_dump(case.folder / "target.sql", tmp_path / "base", flavour="mysql").snapshot
    [problem] = applier.doctor(case.binlogs, base=base).problems
    assert problem.name == "columns" and "1677" in problem.found and "ty.wider" in problem.found
    assert not applier.doctor(case.binlogs, base=base, type_conversions=["all_non_lossy"]).problems


def test_images_that_find_no_row_are_a_problem(tmp_path):
    """IDX-R2: no column of the key is in them; a warning of `explain` is a note."""
    case = Case("target-key-missing")
    base = applier.import_dump(case.folder / "target.sql", tmp_path / "base", flavour="mysql").snapshot
    [problem] = applier.doctor(case.binlogs, base=base).problems
    assert problem.name == "keys" and "1032" in problem.found
    assert not applier.doctor(case.binlogs, base=base, exec_mode="idempotent").problems
    assert states(applier.doctor(Case("row-image-full").binlogs))["keys"] == "note"


def test_the_machine_is_looked_at_without_an_archive(tmp_path, monkeypatch, capsys):
    """Java is a note where nothing needs it, a problem where Spark is asked for."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert doctored() == 0
    assert "note: Java: JAVA_HOME is" in capsys.readouterr().out
    assert doctored("--engine", "spark") == 2
    assert "problem: Java" in (shown := capsys.readouterr().out) and "--engine local" in shown
    (tmp_path / "file").touch()
    assert doctored("--output", tmp_path / "file") == 2
    assert "problem: output" in capsys.readouterr().out
    assert doctored("--shared-dir", tmp_path / "file") == 2
    assert "problem: shared directory" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert doctored() == 0
    assert "note: Spark: pyspark is not installed: a replay in this process needs none" in capsys.readouterr().out
    assert doctored("--engine", "spark") == 2
    assert "problem: Spark" in (shown := capsys.readouterr().out) and "[spark]" in shown and "Java" not in shown


def test_options_are_refused_as_a_replay_refuses_them(logs):
    """Without an archive, those that are about one are not looked at."""
    with pytest.raises(UsageError, match="transactions that the base already contains"):
        applier.doctor(str(logs), reapply=True)
    assert applier.doctor(reapply=True).checks


def test_kernels_are_counted(tmp_path, monkeypatch):
    """A note where the first replay would compile them, a problem where they could not be kept."""
    monkeypatch.setattr(kernel_cache, "shipped", lambda folder: tmp_path / "none")
    monkeypatch.setattr(kernel_cache, "directory", lambda: str(tmp_path / "cache"))
    assert check(applier.doctor(), "kernels").state == "note"
    (tmp_path / "file").touch()
    monkeypatch.setattr(kernel_cache, "directory", lambda: str(tmp_path / "file" / "cache"))
    [problem] = applier.doctor().problems
    assert problem.name == "kernels" and "XDG_CACHE_HOME" in problem.to_do


def test_pyspark_is_not_imported(logs):
    program = f"import sys, applier; applier.doctor({str(logs)!r}, engine='auto'); print('pyspark' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"


def test_a_store_that_is_not_known_is_a_problem():
    """Then nothing that is there is looked at."""
    found = applier.doctor("s4://bucket/logs", "s4://bucket/out")
    assert {problem.name for problem in found.problems} == {"credentials"}
    assert "AWS_ACCESS_KEY_ID" in found.problems[0].to_do
    assert "files" not in states(found)


CASES = ["compressed-mariadb", "crash-mysql-nogtid", "ddl-mysql-names", "groups-mariadb", "incident-mysql",
         "incident-mariadb", "many-files-mariadb", "statement-only-ddl", "ddl-mysql-partitions", "mariadb-sequences"]


@pytest.mark.parametrize("name", CASES)
def test_a_doctor_and_a_replay_agree(name, tmp_path):
    """What the one calls a problem, the other stops with, in the same words."""
    logs = tuple(map(str, Case(name).binlogs))
    found = applier.doctor(logs, tmp_path / "out").problems
    try:
        replay_with(ThisProcess(2), ReplayOptions(logs, str(tmp_path / "out")))
    except ApplierError as error:
        assert [problem.found in str(error) for problem in found] == [True]
    else:
        assert not found
