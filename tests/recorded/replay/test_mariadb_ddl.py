"""DDL that only MariaDB has, as its servers executed it."""

import pytest

from tests.support.real_server import Case, differences, replayed


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name", ["mariadb-defaults", "mariadb11-defaults", "mariadb-failed-replace",
                                  "mariadb11-failed-replace", "mariadb11-0900"])
def test_the_rows_are_those_of_the_source(name, route, tmp_path):
    """EV-CTX: CHARACTER SET DEFAULT and COLLATE DEFAULT, and temporary sequences; a CREATE OR REPLACE TABLE … SELECT
    that fails has dropped the table, whatever its engine."""
    replayed(Case(name), tmp_path / "out", route=route)
    assert differences(tmp_path / "out", Case(name).expected()) == []


VERSIONING = ["mariadb-versioning-implicit", "mariadb11-versioning-explicit"]


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize(("name", "mark"), [(name, mark) for name in VERSIONING for mark in (*Case(name).marks, None)],
                         ids=str)
def test_rows_keep_their_times(name, mark, route, tmp_path):
    """The columns of a row's times become hidden ones, and hidden ones get names."""
    replayed(Case(name), tmp_path / "out", mark=mark, route=route)
    assert differences(tmp_path / "out", Case(name).expected(mark)) == []


@pytest.mark.parametrize(("name", "mark"), [(name, mark) for name in VERSIONING for mark in Case(name).marks], ids=str)
def test_a_base_goes_on_with_hidden_and_named_times(name, mark, tmp_path):
    replayed(Case(name), tmp_path / "base", mark=mark)
    replayed(Case(name), tmp_path / "out", base=str(tmp_path / "base"))
    assert differences(tmp_path / "out", Case(name).expected()) == []
