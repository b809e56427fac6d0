"""Lines that tell of a slip of the pen, not of what the replay does."""

import pytest
from small_logs import commit, insert, new_log

from applier.apply.executor import ThisProcess
from applier.options import ReplayOptions
from applier.replay import replay_with
from applier.table_filter import TableFilter, parse_table_list


@pytest.fixture
def log(tmp_path):
    with new_log(tmp_path) as log:
        commit(log, insert([(1, 1, "a")]))
    return log


def notes(log, tmp_path, **options):
    return replay_with(ThisProcess(), ReplayOptions((str(log.path),), str(tmp_path / "out"), **options)).notes


@pytest.mark.parametrize("tables, told", [
    ("shop.item", []), ("shop", []), ("sh%", []), ("shop.items", ["--tables shop.items: "]),
    ("shop,shop.item,crm.*,Shop.item", ["--tables crm.*: ", "--tables Shop.item: "])])
def test_names_of_no_table_are_told(tables, told, log, tmp_path):
    """AP-FILT: not an error, as the table may be made by a later log; but an empty snapshot shall not pass for it."""
    found = notes(log, tmp_path, filter=TableFilter(parse_table_list([tables])))
    assert [note[:note.index("no such")] for note in found] == told
