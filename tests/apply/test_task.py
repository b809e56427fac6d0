"""One apply task: errors that say where, and both routes to the same units."""

import pytest
from small_logs import commit, insert, new_log

from applier.apply.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.options import ReplayOptions
from applier.replay import replay_with


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_definition_that_is_not_the_logs_is_refused_with_its_place(tmp_path, route):
    """AP-POS, 1677: the file and the table map at which log and definition part."""
    log = new_log(tmp_path)
    log.query("DROP TABLE item", "shop")
    log.query("CREATE TABLE item (id INT NOT NULL PRIMARY KEY, n BIGINT, s VARCHAR(20))", "shop")
    begin, end = commit(log, insert([(1, 1, "a")]))
    log.close()
    with pytest.raises(ReplayStopped, match="column n is LONG in the log and bigint in the table") as stopped:
        replay_with(ThisProcess(), ReplayOptions((str(log.path),), str(tmp_path / "out"), route=route))
    error = stopped.value
    assert (error.mysql_errno, error.table, error.file) == (1677, "shop.item", str(log.path))
    assert begin < error.position < end
