"""Any history that a server could write gives the state that a replica ends with, however the work is divided.

Rules: AP-ORD, AP-SNAP, GRP-1, GRP-2, FIND-ROWS, IMG-MIX, IMG-W, IMG-U, IMG-D, DEF-R1b, DEF-R2, PKE.
"""

import pickle
import tempfile
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pyarrow.parquet as pq
from histories import write_history
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from applier.apply import shuffle, table_walk
from applier.apply.executor import ThisProcess
from applier.binlog.outline import outline_file
from applier.options import ReplayOptions
from applier.plan import units
from applier.replay import replay_with
from applier.snapshot import manifest


class SmallPieces(ThisProcess):
    """Divides as if these few rows were many, and pickles what would travel between a driver and its workers."""

    def __init__(self, cores, unit_bytes, batch_rows, split_bytes):
        super().__init__(cores)
        self.unit_bytes, self.batch_rows, self.split_bytes = unit_bytes, batch_rows, split_bytes

    def __repr__(self):
        return f"SmallPieces{self.cores, self.unit_bytes, self.batch_rows, self.split_bytes}"

    @contextmanager
    def sizes(self):
        with mock.patch.multiple(units, UNIT_BYTES=self.unit_bytes, LEAST_UNIT_BYTES=1), \
                mock.patch.object(table_walk, "BATCH_ROWS", self.batch_rows), \
                mock.patch.multiple(shuffle, BATCH_ROWS=self.batch_rows, PAYLOAD_BYTES=self.split_bytes):
            yield

    def outline(self, tasks, on_progress):
        return [sent(outline_file(task.uri, start=task.start, stop=task.stop, split_bytes=self.split_bytes))
                for task in sent(tasks)]

    def walk(self, tasks, on_progress):
        return sent(super().walk(sent(tasks), on_progress))

    def shuffle(self, splits, units, on_progress):
        return sent(super().shuffle(sent(splits), sent(units), on_progress))


def sent(value):
    return pickle.loads(pickle.dumps(value))


small_pieces = st.builds(SmallPieces, st.integers(1, 3), st.sampled_from([60, 150, 400, 1 << 27]),
                         st.sampled_from([1, 2, 8192]), st.sampled_from([1, 300, 1 << 26]))


def held(snapshot):
    """Rows by table; asserts that files are in key order and hold each key once."""
    tables = {}
    for table in manifest.load(str(snapshot)).tables:
        files = [pq.read_table(snapshot / file.path, partitioning=None) for file in table.files]
        rows = [row for file in files for row in file.to_pylist()]
        keys = [tuple(_comparable(row[name]) for name in table.key) for row in rows]
        assert keys == sorted(set(keys)), f"{table.full_name}: {keys}"
        tables[table.full_name] = rows
    return tables


def _comparable(value):
    return value.encode() if isinstance(value, str) else value


def same(rows, expected):
    """Compare as multisets: rows have values of several types and NULLs."""
    return {name: _in_order(rows[name]) for name in rows} == {name: _in_order(expected[name]) for name in expected}


def _in_order(rows):
    return sorted(repr(sorted(row.items())) for row in rows)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), small_pieces, st.sampled_from(["walk", "shuffle"]))
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
