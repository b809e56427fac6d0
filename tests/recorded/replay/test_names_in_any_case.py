"""Servers with lower_case_table_names=1: statements as they were typed, table maps in lower case; and servers on which
names differ that differ in case only."""

import pytest

from applier.errors import SchemaError
from applier.snapshot import manifest
from tests.support.real_server import Case, differences, replayed

SERVERS = ["mysql", "mariadb", "mariadb11", "mariadb105"]
FOLDED = [*(f"names-folded-{server}" for server in SERVERS), "names-typed-mysql", "names-typed-mariadb"]
KEPT = ["names-kept-mysql", "names-kept-mariadb"]

both_routes = pytest.mark.parametrize("route", ["walk", "shuffle"])


@both_routes
@pytest.mark.parametrize(("name", "known"), [*((name, 1) for name in FOLDED), *((name, 0) for name in KEPT)])
def test_the_log_tells_whether_case_matters(name, known, route, tmp_path):
    """AP-CASE: CREATE, ALTER, RENAME, TRUNCATE, DROP, LIKE, foreign keys and databases in any case."""
    replayed(Case(name), tmp_path / "out", route=route)
    assert differences(tmp_path / "out", Case(name).expected()) == []
    assert manifest.load(str(tmp_path / "out")).lower_case_table_names == known


@pytest.mark.parametrize("name", FOLDED)
@pytest.mark.parametrize("value", [1, 2])
def test_the_option_tells(name, value, tmp_path):
    replayed(Case(name), tmp_path / "out", lower_case_table_names=value)
    assert differences(tmp_path / "out", Case(name).expected()) == []
    assert manifest.load(str(tmp_path / "out")).lower_case_table_names == value


@pytest.mark.parametrize("name", FOLDED)
def test_in_passes(name, tmp_path):
    """AP-PASS: what the first pass found out, or did not yet, holds for the next."""
    replayed(Case(name), tmp_path / "out", pass_bytes=1500)
    assert differences(tmp_path / "out", Case(name).expected()) == []


def test_a_base_of_which_it_was_not_known(tmp_path):
    """AP-SNAP: the base has names as they were typed, and the log after it those in lower case."""
    case = Case("names-folded-mariadb")
    replayed(case, tmp_path / "base", stop_position=("binlog.000001", 761), lower_case_table_names=0)
    assert [table.name for table in manifest.load(str(tmp_path / "base")).tables] == ["Orders"]
    replayed(case, tmp_path / "out", base=str(tmp_path / "base"), lower_case_table_names=1)
    assert differences(tmp_path / "out", case.expected()) == []


def test_a_base_tells(tmp_path):
    case = Case("names-folded-mariadb")
    replayed(case, tmp_path / "base", stop_position=("binlog.000001", 761))
    replayed(case, tmp_path / "out", base=str(tmp_path / "base"))
    assert differences(tmp_path / "out", case.expected()) == []


def test_nothing_tells(tmp_path):
    """A statement whose meaning depends on it, in a log that begins after the table."""
    case = Case("names-typed-mariadb")
    with pytest.raises(SchemaError, match=r"names shop\.Items, and the log does not say whether") as refused:
        replayed(case, tmp_path / "out", **_after_create(case, tmp_path))
    assert "--lower-case-table-names" in refused.value.hint
    replayed(case, tmp_path / "told", **_after_create(case, tmp_path), lower_case_table_names=1)
    assert differences(tmp_path / "told", case.expected()) == []


def _after_create(case, folder):
    """Options for a replay that knows the table, and not whether there is another one."""
    (folder / "tables.sql").write_text("CREATE TABLE shop.items (id INT PRIMARY KEY, a INT);")
    return {"schema": str(folder / "tables.sql"), "start_position": ("binlog.000001", 618)}
