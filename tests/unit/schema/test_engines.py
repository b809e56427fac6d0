"""Engines whose rows a ROLLBACK takes back, and those that keep them."""

import pytest

from applier.schema.ddl.ddl import parse_statement
from applier.schema.engines import is_transactional


@pytest.mark.parametrize("option, transactional", [
    ("", True), ("ENGINE=InnoDB", True), ("ENGINE=RocksDB", True), ("ENGINE=ndbcluster", True),
    ("ENGINE=MyISAM", False), ("engine = 'myisam'", False), ("ENGINE=Aria TRANSACTIONAL=1", False),
    ("ENGINE=MEMORY", False),
])
def test_which_engines_roll_back(option, transactional):
    """GRP-1"""
    [change] = parse_statement(f"CREATE TABLE d.t (id int PRIMARY KEY) {option}", server_charset="utf8mb4")
    assert is_transactional(change.definition) == transactional
