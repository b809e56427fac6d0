"""An executor that divides as if a few rows were many, and what a snapshot holds."""

import pickle
from contextlib import contextmanager
from unittest import mock

import pyarrow.parquet as pq
from hypothesis import strategies as st

from applier.apply.routes import parts, shuffle
from applier.apply.tables import table_walk
from applier.binlog.outline.outline_pass import outline_file
from applier.engine.executor import ThisProcess
from applier.plan import ranges, tasks, units
from applier.snapshot import manifest


class SmallParts(ThisProcess):
    """Divides as if these few rows were many, and pickles what would travel between a driver and its workers."""

    def __init__(self, cores, unit_bytes, batch_rows, split_bytes):
        super().__init__(cores)
        self.unit_bytes, self.batch_rows, self.split_bytes = unit_bytes, batch_rows, split_bytes

    def __repr__(self):
        return f"SmallParts{self.cores, self.unit_bytes, self.batch_rows, self.split_bytes}"

    @contextmanager
    def sizes(self):
        with mock.patch.multiple(units, UNIT_BYTES=self.unit_bytes, LEAST_UNIT_BYTES=1), \
                mock.patch.object(ranges, "HOT_BYTES", 1), \
                mock.patch.object(table_walk, "BATCH_ROWS", self.batch_rows), \
                mock.patch.multiple(shuffle, BATCH_ROWS=self.batch_rows, HELD_BYTES=self.split_bytes,
                                    PAYLOAD_BYTES=self.unit_bytes), \
                mock.patch.multiple(parts, LARGE_BYTES=self.unit_bytes, PART_BYTES=self.unit_bytes), \
                mock.patch.multiple(tasks, SPLIT_TASKS=2, SPLIT_TASK_BYTES=10 * self.split_bytes):
            yield

    def outline(self, tasks, on_progress):
        return [sent(outline_file(task.uri, start=task.start, stop=task.stop, split_bytes=self.split_bytes,
                                  leaving_out=task.leaving_out))
                for task in sent(tasks)]

    def walk(self, tasks, on_progress):
        return sent(super().walk(sent(tasks), on_progress))

    def shuffle(self, splits, units, on_progress):
        return sent(super().shuffle(sent(splits), sent(units), on_progress))


def sent(value):
    return pickle.loads(pickle.dumps(value))


small_parts = st.builds(SmallParts, st.integers(1, 3), st.sampled_from([60, 150, 400, 1 << 27]),
                         st.sampled_from([1, 2, 8192]), st.sampled_from([1, 300, 1 << 26]))


def rows_of(snapshot):
    """Rows by table, in the order of the files."""
    return {table.full_name: [row for file in table.files
                              for row in pq.read_table(snapshot / file.path, partitioning=None).to_pylist()]
            for table in manifest.load(str(snapshot)).tables}


def same(rows, expected):
    """Compare as multisets: rows have values of several types and NULLs."""
    return {name: _in_order(rows[name]) for name in rows} == {name: _in_order(expected[name]) for name in expected}


def _in_order(rows):
    return sorted(repr(sorted(row.items())) for row in rows)
