"""The core needs neither pyspark nor pandas: every verb runs without them, and what needs Spark says how to get it."""

import os
import re
import subprocess
import sys

import pytest

from applier.engine.choice import SPARK_STARTS_SECONDS, choose, choose_by_work
from applier.options import ReplayOptions
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.folders import ROOT

WITHOUT = """
import sys
from importlib.machinery import PathFinder
class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = name.partition(".")[0] in ("pandas", "py4j", "pyspark")
        return None if hidden else super().find_spec(name, path, target)
sys.meta_path = [Finder if finder is PathFinder else finder for finder in sys.meta_path]
"""
RUN = WITHOUT + """
from applier.cli import main
for line in sys.stdin.read().splitlines():
    code = main(line.split("|"))
    print(f"ended with {code}:", line.split("|")[0], file=sys.stderr)
"""
LINES = [
    "replay --binlogs {archive} --stop-datetime 2026-03-14T10:30:00Z --output before",
    "replay --binlogs {archive} --base before --output now",
    "replay --binlogs {archive} --lake lake",
    "versions lake",
    "fsck lake",
    "expire lake --keep 1",
    "status now",
    "report now --html report.html",
    "verify now",
    "views now",
    "diff before now",
    "export now --output exported",
    "import exported --output imported",
    "changes --binlogs {archive} --tables shop.orders --format parquet --output changes",
    "history --binlogs {archive} --tables shop.products --output history",
    "undo --binlogs {archive} --base before --stop-datetime 2026-03-14T10:30:01Z --output undo.sql",
    "summary --binlogs {archive}",
    "show --binlogs {archive}/binlog.000003",
    "explain --binlogs {archive}",
    "locate --binlogs {archive} --datetime 2026-03-14T10:30:00Z",
    "publish now --delta delta",
]
HOW = "pip install 'mysql-binlog-applier[spark]'"
INSTALL = f"pyspark is not installed. hint: {HOW}"
REFUSED = {
    "replay --binlogs {archive} --output out --engine spark": INSTALL,
    "replay --binlogs {archive} --output out --master spark://host:7077": INSTALL,
    "replay --binlogs {archive} --output out --master sc://host:15002":
        "--master sc://host:15002 needs the packages of Spark Connect. "
        "hint: pip install 'mysql-binlog-applier[connect]'",
    "export now --output out --engine spark": INSTALL,
    "history --binlogs {archive} --tables shop.products --output out --engine spark": INSTALL,
}


def python(program, folder, lines=()):
    """A program of its own, run in a folder; words of its input's lines are divided by "|"."""
    text = "\n".join("|".join(line.format(archive=ARCHIVE).split()) for line in lines)
    return subprocess.run([sys.executable, "-c", program], cwd=folder, input=text, capture_output=True, text=True,
                          errors="replace", env=os.environ | {"PYTHONPATH": str(ROOT)})


@pytest.mark.slow
def test_every_verb_runs_and_spark_is_refused(tmp_path):
    """With the way to get it, in one line, and nothing is written."""
    done = python(RUN, tmp_path, [*LINES, *REFUSED])
    told = [line for line in done.stderr.splitlines() if re.match(r"ended with \d|applier: error", line)]
    assert told[:len(LINES)] == [f"ended with 0: {line.split()[0]}" for line in LINES], done.stderr[-2000:]
    assert told[len(LINES):] == [line for words, error in REFUSED.items() for line in
                                 (f"applier: error: {error}", f"ended with 2: {words.split()[0]}")]
    assert not (tmp_path / "out").exists()


def test_python_is_told_the_same(tmp_path):
    program = WITHOUT + f"""
import applier
for attempt in ("import applier.spark", "applier.replay({str(ARCHIVE)!r}, 'out', engine='spark')"):
    try:
        exec(attempt)
    except ImportError as error:
        assert isinstance(error, applier.UsageError)
        print(error)
"""
    assert python(program, tmp_path).stdout.splitlines() == [
        f"it takes Spark: No module named 'pyspark'. hint: {HOW}", INSTALL]


@pytest.fixture
def without_pyspark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)


def test_auto_takes_this_process_and_says_why(without_pyspark):
    far = ReplayOptions(binlogs=("s3://lake/logs",), output="/out")
    assert choose(far) == ("local", "pyspark is not installed, though s3://lake/logs is not on this machine")
    chosen = choose_by_work(SPARK_STARTS_SECONDS + 1)
    assert str(chosen).startswith("engine: local, as pyspark is not installed, though the work takes about 7.0 core s")
    assert "pyspark" not in choose_by_work(0.1).why
    assert choose(ReplayOptions(binlogs=("a",), output="b", master="local[2]")).engine == "spark"
