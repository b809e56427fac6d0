"""Random replicas as real servers applied logs to them: the same rows, or the same error and the rows before it.

Rules: FIND, FIND-ROWS, IDX-R1 to R4, IMG-MIX, DEF-R1a, DEF-R1b, DEF-R2, APP-R5 to R7, AP-IDEM, AP-POS, AP-VAL,
BLOB-R1 to R4, GRP-1.
real_replicas.py says how they were recorded, and made_tables.py what they are.
"""

import tarfile

import pytest

from tests.recorded.differential.judged import disagreement
from tests.recorded.differential.real_replicas import RECORDED

pytestmark = pytest.mark.contradicted  # the replicas' tables are not the source's

with tarfile.open(RECORDED) as archive:
    NAMES = sorted({name.partition("/")[0] for name in archive.getnames()})


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replicas")
    with tarfile.open(RECORDED) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.by_turns(one_in=5)
@pytest.mark.parametrize("name", NAMES)
def test_a_replay_is_what_the_replica_was(name, cases, tmp_path):
    assert disagreement(cases / name, tmp_path) == []
