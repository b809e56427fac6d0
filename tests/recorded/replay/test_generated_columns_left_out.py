"""Generated columns that the images of MariaDB 11.8 lack are computed from the resulting row, as its replica does.

Rules: DEF-R2, IMG-U. The same statements on 10.11, which logs these columns, give the same rows. Beside an online
ALTER, 11.8 logs them, too, and rows without a unique key are then searched by what earlier updates made of them.
"""

import pytest

from applier.jobs.rewrite.job import rewrite
from applier.options import RewriteOptions
from tests.support.real_server import Case, differences, replayed
from tests.support.rewritten import plain_events

CASES = ["mariadb11-generated-columns", "mariadb-generated-updates", "mariadb11-online-alters"]
PLACES = [pytest.param(name, mark, id=f"{name}@{mark.name if mark else 'end'}")
          for name in CASES for mark in (*Case(name).marks, None)]


@pytest.mark.parametrize("mode", ["strict", "idempotent"])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize(("name", "mark"), PLACES)
def test_the_rows_are_those_of_the_source(name, mark, route, mode, tmp_path):
    replayed(Case(name), tmp_path / "out", mark=mark, route=route, exec_mode=mode)
    assert differences(tmp_path / "out", Case(name).expected(mark)) == []


@pytest.mark.parametrize("mark", Case(CASES[0]).marks, ids=str)
def test_a_base_goes_on(mark, tmp_path):
    replayed(Case(CASES[0]), tmp_path / "base", mark=mark)
    replayed(Case(CASES[0]), tmp_path / "out", base=str(tmp_path / "base"))
    assert differences(tmp_path / "out", Case(CASES[0]).expected()) == []


def test_rewritten_full_images_hold_the_computed_values(tmp_path):
    """An update of d.child, whose columns are id, p, q and g AS (q * 10)."""
    case = Case(CASES[0])
    rewrite(RewriteOptions(tuple(map(str, case.binlogs)), str(tmp_path / "full"), image="full"))
    updates = [bytes(event.body) for event in plain_events(tmp_path / "full" / "binlog.000001")
               if event.name.startswith("UPDATE_ROWS")]
    before, after = (b"\xf0" + b"".join(value.to_bytes(4, "little") for value in row)
                     for row in ((1, 1, 1, 10), (1, 1, 7, 70)))
    assert any(body.endswith(before + after) for body in updates)
