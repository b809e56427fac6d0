"""Any history that a server could write gives the state that a replica ends with, however the work is divided.

Rules: AP-ORD, AP-SNAP, GRP-1, GRP-2, FIND-ROWS, IMG-MIX, IMG-W, IMG-U, IMG-D, DEF-R1b, DEF-R2, PKE.
"""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from tests.support.examples import examples
from tests.support.histories import write_history
from tests.support.small_parts import rows_of, same, small_parts


def held(snapshot):
    """Rows by table; asserts that files are in key order and hold each key once."""
    tables = rows_of(snapshot)
    for table in manifest.load(str(snapshot)).tables:
        keys = [tuple(_comparable(row[name]) for name in table.key) for row in tables[table.full_name]]
        assert keys == sorted(set(keys)), f"{table.full_name}: {keys}"
    return tables


def _comparable(value):
    return value.encode() if isinstance(value, str) else value


@settings(max_examples=examples(50), suppress_health_check=list(HealthCheck))
@given(st.data(), small_parts, st.sampled_from(["walk", "shuffle"]))
def test_a_replay_ends_where_a_replica_ends(data, executor, route):
    """The whole history, up to one of its groups, and on from there with that as the base."""
    with tempfile.TemporaryDirectory() as name, executor.sizes():
        folder = Path(name)
        history = write_history(data.draw, folder)
        number = data.draw(st.integers(0, len(history.states) - 1))
        position, state = history.states[number]

        def replayed(output, **options):
            binlogs = tuple(map(str, history.files))
            replay_with(executor, ReplayOptions(binlogs, f"{folder}/{output}", route=route, **options))
            return held(folder / output)

        assert same(replayed("part", stop_position=position), state.rows())
        assert same(replayed("rest", base=f"{folder}/part"), history.end.rows())
        assert same(replayed("whole"), history.end.rows())
        whole, rest = manifest.load(f"{folder}/whole"), manifest.load(f"{folder}/rest")
        assert whole.position == rest.position
