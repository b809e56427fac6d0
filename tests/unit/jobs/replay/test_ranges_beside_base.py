"""A table that has outgrown its base: units are as small as without one."""

from unittest import mock

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import units
from tests.support.small_logs import commit, delete, held, insert, new_log, update


def test_new_keys_around_a_base_are_divided(tmp_path):
    """One small base file in the midst, and many rows below and above it; the file is one unit's."""
    log = new_log(tmp_path)
    commit(log, insert([(1000, 1, "base"), (1001, 1, "base")]))
    middle = log.position
    for number in (*range(200), *range(2000, 2200)):
        commit(log, insert([(number, 1, "x")]))
    commit(log, update([(1000, 1, "base")], [(1000, 2, "changed")]), delete([(2100, 1, "x")]))
    log.close()

    def replayed(name, **options):
        return replay_with(ThisProcess(), ReplayOptions((log.path,), str(tmp_path / name), **options)).tables

    with mock.patch.multiple(units, UNIT_BYTES=1500, LEAST_UNIT_BYTES=1):
        replayed("base", stop_position=("binlog.000001", middle))
        for route in ("walk", "shuffle"):
            [table] = replayed(route, base=str(tmp_path / "base"), route=route)
            assert table.files_written > 8
            assert (table.rows, table.inserts, table.updates, table.deletes) == (401, 400, 1, 1)
            keys = [*range(200), 1000, 1001, *(number for number in range(2000, 2200) if number != 2100)]
            assert [row[0] for row in held(tmp_path / route)] == keys
