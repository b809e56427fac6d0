"""A verb imports what it needs: the rest would cost more than small work takes."""

import json
import subprocess
import sys

import pytest

from applier.engine import left_out
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.folders import ROOT

PROGRAM = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
from applier.cli import console
console()
"""
SPARK = {"pyspark", "py4j", "applier.engine.spark", "pandas"}


def loaded(*words):
    """The modules that a command line has loaded at its end."""
    run = subprocess.run([sys.executable, "-c", PROGRAM, *words], cwd=ROOT, text=True, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE)
    assert run.returncode == 0, run.stderr[:1000]
    return set(json.loads(run.stderr.splitlines()[-1]))


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize(("words", "unwanted"), [
    (["--version"], {"numpy", "numba", "pyarrow", "rich"}),
    (["--help"], {"numpy", "numba", "pyarrow", "rich", "applier.jobs"}),
    (["replay", "--help-all"], {"numpy", "numba", "pyarrow", "rich", "applier.jobs"}),
    (["show", str(ARCHIVE / "binlog.000003")],
     {"rich", "cffi", "yaml", "applier.schema.ddl", "applier.columns.values", "applier.apply"}),
    (["locate", "--binlogs", str(ARCHIVE), "--datetime", "2026-03-14 10:30:00"],
     {"applier.schema.ddl", "applier.columns.values", "applier.apply"}),
])
def test_a_verb_leaves_out_what_others_need(words, unwanted):
    assert loaded(*words) & (SPARK | unwanted) == set()


def test_a_replay_in_this_process_needs_no_spark(tmp_path):
    """Nor pandas, which pyarrow imports if it can, nor the functions of expressions, where no table has one."""
    modules = loaded("replay", "--binlogs", str(ARCHIVE), "--output", str(tmp_path / "out"), "--engine", "local")
    assert modules & (SPARK | {"applier.sql.calls"}) == set() and "pyarrow.parquet" in modules


def test_the_door_opens_again(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    left_out.shut()
    with pytest.raises(ModuleNotFoundError, match="pandas is left out"):
        import pandas
    left_out.open_again()
    left_out.open_again()
    import pandas  # noqa: F401
