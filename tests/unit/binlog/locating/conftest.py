"""Archives to be searched, by their heads or by an index, and how much of them is read."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from applier.binlog.locating import search
from applier.binlog.locating import search as indexes
from tests.support.folders import CASES
from tests.support.small_logs import commit, insert, new_log

WITH_GTIDS = ["many-files-mysql", "many-files-mariadb", "groups-mariadb", "transactions-mysql", "transactions-mariadb",
              "gtid-tags"]
N_FILES = 1000


@pytest.fixture(params=WITH_GTIDS)
def real(request, tmp_path) -> Path:
    """A copy of a real archive, as an index may be put beside it."""
    for file in (CASES / request.param).glob("binlog.0*"):
        shutil.copy(file, tmp_path / file.name)
    return tmp_path


@pytest.fixture(params=["heads", "index"])
def way(request):
    """What makes an archive one to be searched by its heads, or by an index."""
    return (lambda folder: None) if request.param == "heads" else lambda folder: search.index(str(folder))


@pytest.fixture
def archive(tmp_path) -> Path:
    """Five files of two transactions each, with an index."""
    log = new_log(tmp_path)
    for number in range(1, 6):
        for half in (0, 1):
            commit(log, insert([(2 * number + half, 0, "x")]))
        log.timestamp += 60
        if number < 5:
            log = log.rotate(tmp_path / f"binlog.{number + 1:06d}")
    log.close()
    search.index(str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def thousand(tmp_path_factory) -> Path:
    """A thousand files of one transaction each, a minute apart; the first file has the table's, too."""
    folder = tmp_path_factory.mktemp("thousand")
    log = new_log(folder)
    for number in range(1, N_FILES + 1):
        commit(log, insert([(number, number, "x")]))
        log.timestamp += 60
        if number < N_FILES:
            log = log.rotate(folder / f"binlog.{number + 1:06d}")
    log.close()
    return folder


@dataclass
class Reading:
    heads: int = 0
    files: int = 0


@pytest.fixture
def reading(monkeypatch) -> Reading:
    """Return how many heads and files are read."""
    counted = Reading()
    read_head, group_pass = search.read_head, search.GroupPass

    def count_head(file):
        counted.heads += 1
        return read_head(file)

    def count_pass(uri):
        counted.files += 1
        return group_pass(uri)

    for module in (search, indexes):
        monkeypatch.setattr(module, "read_head", count_head, raising=False)
        monkeypatch.setattr(module, "GroupPass", count_pass)
    return counted
