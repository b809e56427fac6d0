"""ARCHITECTURE lists the functions on an update's way into a Parquet file in the order of their first calls."""

import inspect
import re
import sys
from importlib import import_module

import pytest

from applier.io.progress import Silent
from applier.jobs.on_engine import replaying
from applier.options import ReplayOptions
from tests.support.folders import ROOT
from tests.support.small_logs import commit, insert, new_log, update

[WAY] = re.findall(r"^### An update's way .*?(?=^## )", (ROOT / "docs" / "ARCHITECTURE.md").read_text(),
                   re.MULTILINE | re.DOTALL)
PARTS = dict(re.findall(r"^\*\*([\w ()]+)\.\*\*(.*?)(?=^\*\*|\Z)", WAY, re.MULTILINE | re.DOTALL))
ROUTES = {"walk": ("Plan and read (walk)", "Apply (both routes)", "Write (both routes)"),
          "shuffle": ("Plan and read (shuffle)", "Apply (both routes)", "Write (both routes)")}


def named(part):
    """The Python functions that a part of the way names, as code objects by their names; of a class, `__init__`."""
    for path, name in re.findall(r"`([\w/]+\.py):([\w.]+)`", PARTS[part]):
        found = import_module("applier." + path.removesuffix(".py").replace("/", "."))
        for word in name.split("."):
            found = getattr(found, word)
        function = found.__init__ if inspect.isclass(found) else found
        if inspect.isfunction(function):  # a kernel is not, and the function before it calls it
            yield f"{path}:{name}", inspect.unwrap(function).__code__


def first_calls(work):
    """The code objects that `work` calls on this thread, in the order of their first calls."""
    seen = {}

    def note(frame, event, _):
        if event == "call":
            seen.setdefault(frame.f_code, len(seen))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize("route", ROUTES)
def test_an_updates_way_is_that_of_the_page(route, tmp_path):
    """With a base, one table, one unit, and so on this thread."""
    (folder := tmp_path / "binlogs").mkdir()
    with new_log(folder) as log:
        _, middle = commit(log, insert([(1, 10, "a"), (2, 20, "b"), (3, 30, "c")]))
        commit(log, update([(2, 20, "b")], [(2, 21, "B")]))
    options = {"engine": "local", "route": route, "witness": "off"}
    base = str(tmp_path / "base")
    replaying.replay(ReplayOptions((str(folder),), base, stop_position=("binlog.000001", middle), **options), Silent())
    calls = first_calls(lambda: replaying.replay(ReplayOptions(
        (str(folder),), str(tmp_path / "now"), base=base, **options), Silent()))
    way = [function for part in ROUTES[route] for function in named(part)]
    missing = [name for name, code in way if code not in calls]
    assert not missing
    assert [name for name, _ in sorted(way, key=lambda named: calls[named[1]])] == [name for name, _ in way]
