"""Random replicas of tables with generated columns, as real servers applied logs to them, strictly or idempotently.

Rules: DEF-R1a, DEF-R1b, DEF-R2, IMG-MIX, AP-POS, APP-R6, APP-R7. real_replicas.py says how they were recorded,
made_generated.py what they are.
"""

import tarfile

import pytest

from tests.recorded.differential.judged import disagreement
from tests.recorded.differential.real_replicas import GENERATED

pytestmark = pytest.mark.contradicted  # the replicas' tables are not the source's

with tarfile.open(GENERATED) as archive:
    NAMES = sorted({name.partition("/")[0] for name in archive.getnames()})


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    with tarfile.open(GENERATED) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.by_turns(one_in=5)
@pytest.mark.parametrize("name", NAMES)
def test_a_replay_is_what_the_replica_was(name, cases, tmp_path):
    assert disagreement(cases / name, tmp_path) == []
