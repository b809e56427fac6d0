"""Reads the row changes of a made-up log, and keeps them a row at a time beside what the model expects."""

from dataclasses import dataclass
from typing import Any

from applier.binlog.rows.changes import ChangeReader, TableBinding
from applier.binlog.rows.image_pointers import addresses_of, layouts_of
from applier.binlog.rows.layout import plan_columns
from applier.mysql.values.zero_dates import to_python
from tests.support import row_model as m
from tests.support.row_model import ABSENT, BY_NAME, DELETE, INSERT, UPDATE

INT, TEXT, SHORT_TEXT = BY_NAME["int"], BY_NAME["varchar(60000)"], BY_NAME["varchar(255)"]


@dataclass
class Change:
    """A change that the model expects: kind, offset of its event, row in the event, both images."""

    kind: int
    position: int
    row: int
    before: tuple[Any, ...] | None
    after: tuple[Any, ...] | None


class Collector:
    """Takes batches and keeps their contents, a row at a time."""

    def __init__(self, file, rows=4096, wanted_before=None, wanted_after=None):
        self.file, self.rows, self.changes, self.batches, self.zero_dates = file, rows, [], 0, 0
        self.wanted = wanted_before, wanted_after
        self.bindings = {}

    def bind(self, table_map):
        if table_map.table != "t":
            return None
        if table_map.name not in self.bindings:
            plans = plan_columns(table_map)
            before, after = ([plan if wanted is None or c in wanted else None for c, plan in enumerate(plans)]
                             for wanted in self.wanted)
            binding = TableBinding(plans, before, after, lambda batch: self.take(batch, binding), self.rows)
            self.bindings[table_map.name] = binding
        return self.bindings[table_map.name]

    def take(self, batch, binding):
        self.batches += 1
        self.zero_dates += batch.zero_dates
        assert 0 < batch.n <= self.rows
        before, after = self.rows_of(batch.before, batch.n_before), self.rows_of(batch.after, batch.n_after)
        for i in range(batch.n):
            b, a, pointer = int(batch.before_rows[i]), int(batch.after_rows[i]), int(batch.images[i])
            change = Change(int(batch.kinds[i]), int(batch.positions[i]), int(batch.rows[i]),
                            before[b] if b >= 0 else None, after[a] if a >= 0 else None)
            self.changes.append(change)
            assert (pointer == -1) == (a < 0)
            if a >= 0:
                self.check_pointer(pointer, change, binding)

    def check_pointer(self, pointer, change, binding):
        """It leads into the change's event, and its upper bits to the layout of the after-image."""
        offset = addresses_of(pointer) - self.file.address
        size = int.from_bytes(self.file.array[change.position + 9:change.position + 13].tobytes(), "little")
        assert change.position < offset <= change.position + size
        present = binding.layouts.known[layouts_of(pointer)].present
        here = tuple(c for c, value in enumerate(change.after) if value is not ABSENT)
        assert present == here or None in binding.after

    def rows_of(self, images, rows):
        columns = []
        for column in map(images.columns.get, range(len(images.plans))):
            if column is None:
                columns.append(["unwanted"] * rows)
                continue
            array = column.arrow(rows)
            array.validate(full=True)
            absent = column.absent_rows(rows)
            flags = [False] * rows if absent is None else absent.to_pylist()
            values = to_python(array)
            assert all(value is None for value, gone in zip(values, flags, strict=True) if gone)
            columns.append([ABSENT if gone else value for value, gone in zip(values, flags, strict=True)])
        return list(zip(*columns, strict=True))


def read(file, start=4, end=None, checksum=False, **options):
    collector = Collector(file, **options)
    reader = ChangeReader(file, collector.bind, checksum=checksum)
    reader.walk(start, file.size if end is None else end)
    reader.flush()
    return collector


def full(kinds, *rows, operation=INSERT, table_id=7, version=2):
    """A rows event with full images; for updates each row is a pair."""
    present = [1] * len(kinds)
    data = b"".join(m.image(kinds, part) for row in rows for part in (row if operation == UPDATE else (row,)))
    return m.rows_event(operation, table_id, len(kinds), present if operation != INSERT else None,
                        present if operation != DELETE else None, data, version=version)
