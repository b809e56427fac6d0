"""MariaDB's collations with MySQL's names compare as UCA 14 for a language: a collation is a name and a flavour."""

import gzip
import json

import pyarrow as pa
import pytest

from keysearch.collation import collation_of, equality_keys
from tests.recorded.keysearch.mariadb_0900 import STRINGS, TRUTH

RANKS = json.loads(gzip.decompress(TRUTH.read_bytes()))


@pytest.mark.parametrize("name", RANKS)
def test_the_same_strings_are_equal(name):
    keys = equality_keys(pa.array(STRINGS), collation_of(name, "mariadb"))
    of_rank: dict[int, bytes] = {}
    for number, (rank, text) in enumerate(zip(RANKS[name], STRINGS, strict=True)):
        assert of_rank.setdefault(rank, keys[number]) == keys[number], text
    assert len(set(of_rank.values())) == len(of_rank)
