"""VECTOR columns of MariaDB, which logs them as VARBINARY."""

import pytest

from tests.support.real_server import Case, differences, replayed

CASE = Case("mariadb11-vectors")


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("mark", [*CASE.marks, None], ids=str)
def test_the_rows_are_those_of_the_source(mark, route, tmp_path):
    replayed(CASE, tmp_path / "out", mark=mark, route=route)
    assert differences(tmp_path / "out", CASE.expected(mark)) == []


def test_a_base_goes_on(tmp_path):
    [mark] = CASE.marks
    replayed(CASE, tmp_path / "base", mark=mark)
    replayed(CASE, tmp_path / "out", base=str(tmp_path / "base"))
    assert differences(tmp_path / "out", CASE.expected()) == []


ALTERS = [pytest.param(case, mark, id=f"{case.name}@{mark.name if mark else 'end'}")
          for case in map(Case, ("vector-alters-mysql", "mariadb11-vector-alters")) for mark in (*case.marks, None)]


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize(("case", "mark"), ALTERS)
def test_alters(case, mark, route, tmp_path):
    """Other dimensions, and what becomes a VECTOR or what one becomes, with and without strict mode."""
    replayed(case, tmp_path / "out", mark=mark, route=route)
    assert differences(tmp_path / "out", case.expected(mark)) == []
