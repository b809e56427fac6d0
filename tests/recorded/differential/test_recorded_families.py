"""Random families of tables with foreign keys (AP-FK): at every recorded place a snapshot is what the server held.

Rules: AP-FK, AP-ORD, AP-SNAP, IMG-MIX, DEF-R2, GRP-2. families.py says how they were recorded, and made_families.py
what they are; servers are MySQL 9.7, whose log has all rows, the same with native foreign keys, and MariaDB 10.11.
"""

import tarfile

import pytest

from tests.recorded.differential.families import RECORDED
from tests.recorded.differential.judged_ddl import ALL_WAYS, judge
from tests.support.foreign_key_engines import both_engines, engine_of

with tarfile.open(RECORDED) as archive:
    NAMES = sorted({name.partition("/")[0] for name in archive.getnames()})


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("families")
    with tarfile.open(RECORDED) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.by_turns("engine", one_in=2)
@both_engines
@pytest.mark.parametrize("name", NAMES)
def test_a_snapshot_is_what_the_server_held(name, engine, cases, tmp_path):
    with engine_of(engine):
        verdict = judge(cases / name, tmp_path, ALL_WAYS)
    assert verdict.wrong == [] and verdict.refused == {}
