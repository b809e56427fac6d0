"""Nodes of a cluster that run from a checkout and have no compiled kernels: each compiles them once, and keeps them.

Each worker is a node with a cache of its own, and starts two executors, so two daemons at once. To be quick, the caches
lack only the kernels of a few modules.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from applier.engine import compiling
from applier.kernels.signatures import signatures
from keysearch import kernel_cache
from tests.support import spark_servers
from tests.support.folders import ROOT
from tests.support.real_server import Case, differences

MISSING = ("applier.apply.index.byte_keys_kernel", "applier.apply.routes.packing_kernel",
           "applier.snapshot.files.digest_kernel")
"""Modules of kernels, the first of which the replay does not need."""
COUNTED = """
import os, sys
log = os.environ.get("COMPILED")
def count(event, arguments):
    if event == "os.rename" and str(arguments[1]).endswith(".nbc"):
        with open(log, "a") as file:
            file.write(os.path.basename(arguments[1]) + "\\n")
if log:
    sys.addaudithook(count)
"""
"""Of every Python process of a node (sitecustomize of the checkout): writes down which kernels it has compiled."""
REPLAYS = """
import os, sys, time
from applier import cli
from applier.engine.spark import session, stages
master, n_tasks, *words = sys.argv[1:]
os.mkdir("tasks")
tasks = os.path.abspath("tasks")
def meet(item):  # with all the others, so that each has a core of its own
    open(f"{tasks}/{item}", "w").close()
    while len(os.listdir(tasks)) < int(n_tasks):
        time.sleep(0.05)
    return os.getcwd()
print(len(set(stages.map_tasks(session.start(master), meet, range(int(n_tasks))))))
for route in ("walk", "shuffle"):
    code = cli.main(["replay", "--master", master, *words, "--route", route, "--output", route])
    assert code == 0, code
"""
"""Of a driver: says first how many executors have run tasks, as many at once as the cluster has cores."""
CORES_A_NODE = 2

pytestmark = pytest.mark.slow


@pytest.fixture
def checkout(tmp_path):
    """A checkout from which all processes run that are counted."""
    folder = tmp_path / "checkout"
    for package in ("applier", "jsondiff", "keysearch"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "sitecustomize.py").write_text(COUNTED)
    return folder


@pytest.fixture
def nodes(tmp_path):
    """The caches of two nodes, which have a replay's kernels except for those of MISSING."""
    compiling.ensure("replay")
    cache, caches = Path(kernel_cache.directory()), [tmp_path / "node0", tmp_path / "node1"]
    for node in caches:
        for module in set(compiling.modules_for("replay")) - set(MISSING):
            folder = kernel_cache.folder(module)
            shutil.copytree(cache / folder, node / "mysql-binlog-applier" / cache.name / folder)
    return caches


def replay(checkout, master, directory):
    """Both routes, on an executor a core of two nodes, in a program and a session of their own."""
    n_executors, case = str(2 * CORES_A_NODE), Case("checksum-changes")
    directory.mkdir()
    (directory / "spark-defaults.conf").write_text("spark.executor.cores 1\nspark.executor.memory 500m\n")
    run = subprocess.run([sys.executable, "-c", REPLAYS, master, n_executors, "--binlogs", *map(str, case.binlogs)],
                         cwd=directory, capture_output=True, text=True, env=os.environ | spark_servers.ENVIRONMENT | {
                             "PYTHONPATH": str(checkout), "SPARK_CONF_DIR": str(directory)})
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines()[0] == n_executors
    for route in ("walk", "shuffle"):
        assert differences(directory / route, case.expected()) == []


def compiled(node):
    """The files of kernels that processes of a node have compiled, each as often as it was."""
    return sorted((node / "compiled").read_text().split())


def kept(node):
    """Those of MISSING that are there."""
    return sorted(file.name for module in MISSING for file in node.rglob(f"{kernel_cache.folder(module)}/*.nbc"))


@pytest.mark.thorough
def test_a_cold_node_compiles_each_kernel_once(checkout, nodes, tmp_path, tmp_path_factory):
    """Whichever of its two daemons comes first: the other one reads what that has compiled."""
    workers = [{"XDG_CACHE_HOME": str(node), "NUMBA_CACHE_DIR": "", "COMPILED": str(node / "compiled")}
               for node in nodes]
    with spark_servers.cluster(tmp_path_factory.mktemp("cluster"), *workers, cores=CORES_A_NODE) as master:
        replay(checkout, master, tmp_path / "driver")
    assert [kept(node) for node in nodes] == [compiled(node) for node in nodes]
    assert [len(kept(node)) for node in nodes] == [len(signatures(MISSING))] * len(nodes)
