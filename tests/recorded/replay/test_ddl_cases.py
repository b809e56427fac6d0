"""Logs of real servers with DDL between row changes: the snapshot holds what the server held, at the end and each mark.

In this process, without Spark: what DDL does to rows is the same wherever they are.
"""

import pytest

from applier.errors import SchemaError
from applier.schema.table_filter import TableFilter
from tests.support.real_server import Case, differences, replayed

DDL = ["ddl-mysql", "ddl-mariadb", "ddl-mysql-convert", "ddl-added-mysql", "ddl-added-mariadb", "mariadb-sequences",
       "online-change-ghost-mysql", "online-change-ptosc-mariadb"]
MARKED = [pytest.param(name, mark, id=f"{name}@{mark.name}") for name in DDL for mark in Case(name).marks]
ENDS = [*DDL, "ddl-mysql-names", "ddl-mysql-number-rows", "statement-only-ddl", "row-metadata-full",
        "row-metadata-full-mariadb", "generated-columns-mysql", "generated-columns-mariadb", "many-files-mysql",
        "many-files-mariadb"]

both_routes = pytest.mark.parametrize("route, cores", [("walk", 1), ("shuffle", 4)])


@pytest.mark.by_turns("route", "cores")
@both_routes
@pytest.mark.parametrize("name", ENDS)
def test_rows_over_ddl(name, route, cores, tmp_path):
    """AP-VAL, DEF-R1b, EV-CTX: columns, keys, names and character sets change; values convert as they do there."""
    case = Case(name)
    replayed(case, tmp_path / "out", route=route, cores=cores)
    assert differences(tmp_path / "out", case.expected()) == []


@pytest.mark.by_turns("route", "cores")
@pytest.mark.parametrize("route, cores", [("walk", 4), ("shuffle", 1)])
@pytest.mark.parametrize(("name", "mark"), MARKED)
def test_marks_between_ddl(name, mark, route, cores, tmp_path):
    """AP-SNAP, GRP-2: definitions are those at the position, and so are the rows."""
    case = Case(name)
    replayed(case, tmp_path / "out", mark=mark, route=route, cores=cores)
    assert differences(tmp_path / "out", case.expected(mark)) == []


def test_ddl_that_cannot_be_followed_stops_at_its_place(tmp_path):
    """GRP-1: named with position, GTID and table; nothing is published."""
    with pytest.raises(SchemaError, match="EXCHANGE PARTITION p0") as stopped:
        replayed(Case("ddl-mysql-partitions"), tmp_path / "out", filter=TableFilter((), (("pt", "x"),)))
    assert (stopped.value.position, stopped.value.table) == (7382, "pt.r")
    assert stopped.value.gtid.endswith(":23")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.by_turns("route", "cores")
@both_routes
@pytest.mark.parametrize(("name", "mark"), [
    ("ddl-mysql", "dropped"), ("ddl-mysql", "keys"), ("ddl-mysql", "before_swap"), ("ddl-mariadb", "added"),
    ("ddl-mysql-convert", "texts")])
def test_a_base_goes_on_over_ddl(name, mark, route, cores, tmp_path):
    """AP-SNAP, GRP-5: rows of a base are converted, and found under the names that their tables get."""
    case = Case(name)
    mark = case.mark(mark)
    replayed(case, tmp_path / "base", mark=mark, route=route, cores=cores)
    replayed(case, tmp_path / "out", base=str(tmp_path / "base"), route=route, cores=cores)
    assert differences(tmp_path / "out", case.expected()) == []
