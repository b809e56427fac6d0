"""`spark-submit` on a cluster whose nodes have the packages that this one needs, and not this one: it is sent to them
as a zip, or in an environment of its own. test_wheel.py sends a wheel."""

import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from applier.engine import compiling
from keysearch import kernel_cache
from tests.support import other_pythons, spark_servers
from tests.support.folders import ROOT
from tests.support.real_server import Case, differences
from tests.support.spark_servers import submitted

PACKAGES = ("applier", "jsondiff", "keysearch")
KERNELS = str(Path(kernel_cache.directory()).parent)
"""Where kernels are compiled already, which takes minutes."""

pytestmark = [pytest.mark.thorough, pytest.mark.slow]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """A cluster that finds nothing of this checkout."""
    compiling.ensure("replay")
    bare = {"PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    with spark_servers.cluster(tmp_path_factory.mktemp("cluster"), bare, bare) as master:
        yield master


def test_a_zip_among_the_python_files(nodes, tmp_path):
    """Driver and nodes unpack it, each into its cache; spark.executorEnv says where a node's is."""
    with zipfile.ZipFile(tmp_path / "applier.zip", "w") as archive:
        for file in (file for package in PACKAGES for file in (ROOT / package).rglob("*") if file.is_file()):
            if "__pycache__" not in file.parts:
                archive.write(file, file.relative_to(ROOT))
    case, cache = Case("checksum-changes"), tmp_path / "of nodes"
    submitted(nodes, tmp_path, other_pythons.make(tmp_path / "python"),
              ["--py-files", tmp_path / "applier.zip"],
              {"spark.executorEnv.XDG_CACHE_HOME": cache, "spark.executorEnv.NUMBA_CACHE_DIR": KERNELS},
              ["--binlogs", *case.binlogs, "--route", "shuffle", "--output", tmp_path / "out"],
              XDG_CACHE_HOME=str(tmp_path / "of the driver"), NUMBA_CACHE_DIR=KERNELS)
    assert differences(tmp_path / "out", case.expected()) == []
    of_driver, of_nodes = ([folder.name for folder in (one / "mysql-binlog-applier").glob("unpacked-*")]
                           for one in (tmp_path / "of the driver", cache))
    assert of_driver == of_nodes and len(of_nodes) == 1


def test_an_environment_as_an_archive(nodes, tmp_path):
    """Spark unpacks it in each executor's working directory; there is the Python of workers."""
    python = other_pythons.make(tmp_path / "python")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, other_pythons.packages_of(tmp_path / "python") / package,
                        ignore=shutil.ignore_patterns("__pycache__"))
    with tarfile.open(tmp_path / "python.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(tmp_path / "python", ".")
    case = Case("checksum-changes")
    submitted(nodes, tmp_path, python, ["--archives", f"{tmp_path}/python.tar.gz#environment"],
              {"spark.executorEnv.NUMBA_CACHE_DIR": KERNELS},
              ["--binlogs", *case.binlogs, "--route", "walk", "--output", tmp_path / "out"],
              NUMBA_CACHE_DIR=KERNELS, PYSPARK_DRIVER_PYTHON=str(python), PYSPARK_PYTHON="./environment/bin/python")
    assert differences(tmp_path / "out", case.expected()) == []
