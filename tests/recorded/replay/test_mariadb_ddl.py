"""DDL that only MariaDB has, as its servers executed it."""

import pytest

from tests.support.real_server import Case, differences, replayed


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name", ["mariadb-defaults", "mariadb11-defaults", "mariadb-failed-replace",
                                  "mariadb11-failed-replace"])
def test_the_rows_are_those_of_the_source(name, route, tmp_path):
    """EV-CTX: CHARACTER SET DEFAULT and COLLATE DEFAULT, and temporary sequences; a CREATE OR REPLACE TABLE … SELECT that
    fails has dropped the table, whatever its engine."""
    replayed(Case(name), tmp_path / "out", route=route)
    assert differences(tmp_path / "out", Case(name).expected()) == []
