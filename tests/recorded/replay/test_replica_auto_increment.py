"""AUTO_INCREMENT columns that only the replica has: tables say where numbers begin, and no number comes twice."""

import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.options import ImportOptions, ReplayOptions
from applier.snapshot import manifest
from tests.support.real_server import Case, differences

CASE = Case("target-auto-increment")


@pytest.fixture
def base(tmp_path):
    import_dump(ImportOptions(str(CASE.folder / "target.sql"), str(tmp_path / "base"), flavour="mysql"))
    return str(tmp_path / "base")


def replay(base, output, files, route="walk"):
    replay_with(ThisProcess(2), ReplayOptions(tuple(map(str, files)), str(output), base=base, route=route))


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_numbers_begin_where_the_table_says(base, tmp_path, route):
    """DEF-R1a: at AUTO_INCREMENT = n or behind the highest, and after TRUNCATE at 1; as a real replica had them."""
    replay(base, tmp_path / "out", CASE.binlogs, route)
    assert differences(tmp_path / "out", CASE.expected()) == []


def test_numbers_of_rows_that_are_gone_do_not_come_again(base, tmp_path):
    """AP-SNAP: in steps as in one go, though the rows with the highest numbers are deleted between."""
    for step, file in enumerate(CASE.binlogs):
        replay(base, tmp_path / str(step), [file])
        base = str(tmp_path / str(step))
    assert differences(tmp_path / str(step), CASE.expected()) == []
    tables = {table.name: table.definition.first_number for table in manifest.load(base).tables}
    assert tables == {"t": 58, "u": 2}
    assert "AUTO_INCREMENT=58" in (tmp_path / str(step) / "_schema.sql").read_text()
