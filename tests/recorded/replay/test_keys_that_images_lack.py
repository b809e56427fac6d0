"""Keys whose values an image lacks, or has as NULL, as real servers and their replicas made them: none is refused for
what an insert might have left out.

In this process, without Spark: on both routes the tables' rows are found by one key, by several, or by what they hold.
"""

import pytest

from applier.jobs.importing.job import import_dump
from applier.options import ImportOptions
from tests.support.real_server import Case, differences, replayed

both_routes = pytest.mark.parametrize("route", ["walk", "shuffle"])


@both_routes
@pytest.mark.parametrize("name", ["keys-made-mysql", "keys-made-mariadb"])
def test_values_that_the_log_has_are_not_made_again(name, route, tmp_path):
    """DEF-R2, IMG-W: DEFAULT (UUID()) and STORED columns of keys of every kind, in all row images; updates and deletes
    lack them, inserts do not."""
    case = Case(name)
    replayed(case, tmp_path / "out", route=route)
    assert differences(tmp_path / "out", case.expected()) == []


@both_routes
@pytest.mark.parametrize("mode", ["strict", "idempotent"])
@pytest.mark.parametrize("name", ["target-notnull-key", "mariadb-target-notnull-key", "target-number-in-key",
                                  "mariadb-target-number-in-key"])
def test_keys_that_only_the_replica_makes(name, mode, route, tmp_path):
    """Instead of a NULL the default, or the type's zero value: in both images, so that the row is found again, and
    moves there. And AUTO_INCREMENT as a later part of the key: the first of several rows is taken by it."""
    case = Case(name)
    import_dump(ImportOptions(str(case.folder / "target.sql"), str(tmp_path / "base"), flavour=case.server))
    replayed(case, tmp_path / "out", base=str(tmp_path / "base"), route=route, exec_mode=mode)
    assert differences(tmp_path / "out", case.expected()) == []
