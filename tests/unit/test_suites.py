"""What `make test` runs: all but tests with the marker `thorough`, and still something of everything."""

import ast
import difflib
import os
import re
import signal
import subprocess
import sys
from collections import Counter

import pytest

from tests.support import costs, mutants, near, warm_pytest
from tests.support.called_functions import WATCHED, read_calls
from tests.support.folders import CASES, ROOT
from tests.support.mutants import changed_source, changes_in
from tests.support.turns import COLLECTED, mark_thorough
from tests.support.watched.sitecustomize import FOLDER

RULES = re.findall(r"^\| ([A-Z][A-Z0-9]*(?:-[A-Za-z0-9]+)*) \|", (ROOT / "docs" / "RULES.md").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def collected(request):
    """All tests, also those that this run leaves out by their markers."""
    if request.config.option.file_or_dir:
        pytest.skip("only a part of the tests is collected")
    return request.config.stash[COLLECTED]


@pytest.fixture(scope="module")
def daily(collected):
    """The tests that `make test` runs."""
    return [item for item in collected if item.get_closest_marker("thorough") is None]


def test_each_module_is_collected(collected):
    """So `make test-all` runs it, and `make test` what is not marked of it. Files with tests are called test_*."""
    modules = {item.path for item in collected}
    files = set((ROOT / "tests").rglob("*.py"))
    assert {path for path in files if path.name.startswith("test_")} == modules
    assert [path for path in files - modules if re.search(r"^ *def test_", path.read_text(), re.MULTILINE)] == []


def test_each_folder_is_in_the_daily_suite(collected, daily):
    assert {item.path.parent for item in collected} == {item.path.parent for item in daily}


def test_each_rule_is_named_by_a_test_of_every_day(daily):
    texts = {text for item in daily for text in (item.function.__doc__, item.module.__doc__) if text}
    named = {rule for text in texts for rule in re.findall(r"[A-Z][A-Z0-9]*(?:-[A-Za-z0-9]+)*", text)}
    assert len(RULES) > 60
    assert [rule for rule in RULES if rule not in named] == []


def test_each_recorded_case_is_in_the_daily_suite(collected, daily):
    """As a parameter, or by its name in a module without thorough tests."""
    known = {value for item in daily if hasattr(item, "callspec") for value in item.callspec.params.values()
             if isinstance(value, str)}
    whole = {item.path for item in daily} - {item.path for item in set(collected) - set(daily)}
    texts = "\n".join(path.read_text() for path in whole)
    assert [name for name in sorted(folder.name for folder in CASES.iterdir())
            if name not in known and f'"{name}"' not in texts] == []


def test_a_module_that_has_grown_is_named():
    before, now = {"a": 10.0, "b": 1.0, "same": 10.0}, Counter({"a": 12.1, "b": 2.3, "same": 12.0, "new": 50.0})
    assert costs.grown(before, now) == ["grown: a costs 12.1 CPU seconds, not 10.0"]


def test_costs_are_written_of_the_modules_that_ran(tmp_path, monkeypatch):
    """And of the suite that ran. Rows of modules that are gone are dropped."""
    ran, other = "tests/unit/test_suites.py", "tests/unit/test_words.py"
    table = tmp_path / "costs.tsv"
    table.write_text(f"tests/test_gone.py\t1.0\t0.0\t1\t0\n{ran}\t1.0\t5.0\t1\t7\n{other}\t2.0\t0.0\t3\t0\n")
    monkeypatch.setattr(costs, "TABLE", table)
    seconds, tests = Counter({ran: 1.26}), Counter({ran: 4})
    costs.write_table({"day": seconds, "thorough": Counter()}, {"day": tests, "thorough": Counter()})
    assert table.read_text() == f"{ran}\t1.3\t5.0\t4\t7\n{other}\t2.0\t0.0\t3\t0\n"


def test_a_skipped_test_is_none_that_ran(monkeypatch):
    """So the row of a module stays whose tests were all skipped, as where no older Spark is."""
    monkeypatch.setattr(costs, "adopt_orphans", lambda: None)
    ran = costs.Costs(writes=False)
    for module, outcome in (("skipped", "skipped"), ("ran", "passed"), ("ran", "failed")):
        for when in ("call", "teardown"):
            ran.pytest_runtest_logreport(pytest.TestReport(
                module, (module, 1, "test"), {"thorough": 1}, outcome if when == "call" else "passed", None, when))
    assert ran.tests == {"day": Counter(), "thorough": Counter(ran=2)}


ORPHANED = """
import os, subprocess
from tests.support.costs import adopt_orphans, cpu_seconds, reap
adopt_orphans()
before = cpu_seconds()
subprocess.run(["sh", "-c", "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' &"])
os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
ended = cpu_seconds()
reap()
try:
    os.wait()
except ChildProcessError:
    print(ended - before > 0.1, cpu_seconds() >= ended)
"""


def test_what_a_process_leaves_behind_counts_when_it_has_ended():
    """As a JVM, which ends after its driver."""
    done = subprocess.run([sys.executable, "-c", ORPHANED], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "True True\n", done.stderr


def test_tests_near_to_a_package_are_those_of_its_model():
    """And changed tests themselves, first."""
    chosen = near.tests_for(["tests/unit/test_words.py", "applier/apply/index"])
    assert chosen[0] == "tests/unit/test_words.py"
    assert {"tests/model/test_row_store.py", "tests/model/test_conflicts_in_indexes.py"} <= set(chosen)


def test_a_mutant_differs_in_one_thing():
    source = "# mypy: ignore\ndef f(a):\n    if a < 1 and a in (3, 4):\n        return 2\n    return 'text'\n"
    found = [changed_source(source, number) for number in range(changes_in(source))]
    assert len(set(found)) == len(found) > 5
    for mutant, function in found:
        assert function == "f"
        ast.parse(mutant)
        assert sum(line.startswith("+ ") for line in difflib.ndiff(source.splitlines(), mutant.splitlines())) == 1


def test_a_mutant_is_in_the_outermost_function():
    """Which is the one that tests are known to call."""
    source = "class C:\n  def m(self):\n    def inner():\n      return a < 1\n\n  def n(self):\n    f()\n"
    assert [changed_source(source, number)[1] for number in range(changes_in(source))] == ["C.m", "C.m", "C.n"]


def test_a_mutant_is_judged_by_tests_that_call_the_function(tmp_path, monkeypatch):
    """The cheapest first; a kernel calls what it is compiled with. Of a function that none calls all are asked."""
    changed, kernels = "applier/errors.py", "applier/binlog/outline/kernels"
    cheap, dear = "tests/unit/jsondiff/test_path.py", "tests/model/test_histories.py"
    for test, names in ((dear, f"{changed}:reason.<locals>.<listcomp>\n"), (cheap, f"{changed}:reason\n"),
                        ("tests/unit/test_words.py", f"{kernels}/outline_kernel.py:walk\n")):
        (tmp_path / test.replace("/", ",")).write_text(names)
    found = read_calls(tmp_path)
    monkeypatch.setattr(mutants, "calls", lambda: found)
    assert mutants.arguments_of("day", changed, "reason") == [*near.DAILY, cheap, dear]
    assert mutants.arguments_of("day", f"{kernels}/outline_gtids.py", "read_gtid")[2:] == ["tests/unit/test_words.py"]
    assert mutants.arguments_of("day", changed, "other") == [*near.DAILY]
    assert mutants.arguments_of("near", changed, "other")[2:] == near.tests_for([changed])


def test_a_loop_without_end_is_told_from_a_busy_machine(tmp_path, monkeypatch):
    """The CPU time of the tests judges a mutant, and not the clock."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(tmp_path)

    def code(line, seconds, patience):
        (tmp_path / "test_it.py").write_text(f"import time\ndef test_it():\n    {line}\n")
        monkeypatch.setattr(warm_pytest, "PATIENCE", patience)
        return warm_pytest.exit_code(str(tmp_path / "said"), seconds, ["-q", "-p", "no:cacheprovider", str(tmp_path)])

    assert code("while True: pass", seconds=1, patience=1000) == -signal.SIGXCPU
    assert code("time.sleep(1000)", seconds=1, patience=0.5) == -signal.SIGKILL
    assert code("assert False", seconds=100, patience=10) == 1


def test_what_is_imported_is_not_called(tmp_path):
    """A test that imports all modules is near to none of them by that, nor by the functions that fill their tables."""
    environment = os.environ | {"PYTHONPATH": f"{WATCHED}:{ROOT}", FOLDER: str(tmp_path),
                                "PYTEST_CURRENT_TEST": "tests/unit/test_words.py::test"}
    program = "from applier import errors; from applier.mysql import type_registry; errors.reason(OSError())"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, env=environment)
    [(test, called)] = read_calls(tmp_path).items()
    assert test == "tests/unit/test_words.py" and "applier/errors.py:reason" in called
    assert {name.partition(":")[0] for name in called} == {"applier/__init__.py", "applier/errors.py"}


def test_what_a_command_runs_is_called(tmp_path):
    """Its module is run, and not imported."""
    environment = os.environ | {"PYTHONPATH": f"{WATCHED}:{ROOT}", FOLDER: str(tmp_path),
                                "PYTEST_CURRENT_TEST": "tests/unit/test_words.py::test"}
    subprocess.run([sys.executable, "-m", "applier", "--version"], check=True, cwd=ROOT, env=environment)
    assert "applier/cli/__init__.py:console" in read_calls(tmp_path)["tests/unit/test_words.py"]


def test_tests_near_to_the_files_beside_a_change_fill_the_budget():
    chosen = near.tests_for(["applier/apply/index/key_index_kernel.py"])
    assert {"tests/unit/apply/index/test_key_order.py", "tests/model/test_row_store.py"} <= set(chosen)
    table = costs.read_table()
    assert sum(near.START + table.get(test, 0) for test in chosen) <= near.BUDGET


def test_the_map_names_files_that_are_there():
    assert [source for source in near.read_map() if not (ROOT / source).exists()] == [], \
        "run `python -m tests.support.near --write`"


def test_a_new_file_has_the_tests_of_its_folder():
    assert "tests/model/test_row_store.py" in near.tests_for(["applier/apply/index/not_measured_yet.py"])


def test_a_run_of_some_tests_keeps_the_rows_that_it_does_not_know_all_of(tmp_path, monkeypatch):
    """A row whose tests all ran is written again, and a file without one gets it. A row follows its file."""
    path, words, moved = "tests/unit/jsondiff/test_path.py", "tests/unit/test_words.py", "applier/no_longer_here.py"
    table, calls = tmp_path / "near.tsv", tmp_path / "calls"
    table.write_text(f"applier/errors.py\t{path} {words}\nkeysearch/memory.py\t{words} tests/test_gone.py\n"
                     f"{moved}\t{words}\napplier/gone.py\t{words}\n")
    monkeypatch.setattr(near, "MAP", table)
    monkeypatch.setattr(near, "git", lambda command, *_: f"R100\t{moved}\tapplier/version.py\n" * (command == "log"))
    calls.mkdir()
    (calls / words.replace("/", ",")).write_text("applier/errors.py:a\njsondiff/path.py:b\nkeysearch/memory.py:c\n")
    near.write_map(calls)
    assert near.read_map() == {"applier/errors.py": [path, words], "jsondiff/path.py": [words],
                               "keysearch/memory.py": [words], "applier/version.py": [words]}


def test_every_case_takes_its_turn(pytester_items):
    """Each in one of the ways, and all ways are taken; or each case in its only way, one of so many. By routes without
    a marker, too."""
    for ways, one_in, cases, marked in ((2, 1, 5, True), (4, 1, 8, True), (1, 3, 7, True), (2, 2, 8, True),
                                        (2, 1, 5, False)):
        daily = pytester_items(ways, one_in, cases, marked)
        assert [case for case, _ in daily] == list(range(0, cases, one_in))
        assert {way for _, way in daily} == set(range(ways))


@pytest.fixture
def pytester_items():
    """The (case, way) of the tests that stay for every day, of a test with so many of both."""
    class Item:
        def __init__(self, params, mark):
            self.callspec, self.mark, self.markers = type("CallSpec", (), {"params": params}), mark, set()
            self.nodeid, self.add_marker = "module.py::test[x]", self.markers.add

        def get_closest_marker(self, name):
            return self.mark

    def daily(ways, one_in, cases, marked):
        mark = pytest.mark.by_turns("route", one_in=one_in).mark if marked else None
        items = [Item({"case": case, "route": way}, mark) for way in range(ways) for case in range(cases)]
        mark_thorough(items)
        return sorted((item.callspec.params["case"], item.callspec.params["route"]) for item in items
                      if not item.markers)

    return daily
