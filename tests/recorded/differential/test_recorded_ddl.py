"""Random histories of DDL between row changes: at every statement's position a snapshot is what the server held there.

Rules: EV-CTX, DEF-R1a, DEF-R1b, IMG-MIX, AP-SNAP, GRP-2, AP-ORD. ddl_histories.py says how they were recorded, and
made_ddl.py what they are. Each round continues from the snapshot of the one before, by one route or the other.
"""

import tarfile

import pytest

from tests.recorded.differential.ddl_histories import RECORDED, TOGETHER
from tests.recorded.differential.judged_ddl import judge

MOST_REFUSED = TOGETHER // 3
"""Histories of a log that may end early, by an error that says why."""
with tarfile.open(RECORDED) as archive:
    NAMES = sorted({name.partition("/")[0] for name in archive.getnames()})


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("histories")
    with tarfile.open(RECORDED) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.by_turns(one_in=10)
@pytest.mark.parametrize("name", NAMES)
def test_a_snapshot_is_what_the_server_held(name, cases, tmp_path):
    verdict = judge(cases / name, tmp_path)
    assert verdict.wrong == []
    assert len(verdict.refused) <= MOST_REFUSED, verdict.refused
