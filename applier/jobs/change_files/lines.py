"""Batches of a feed as JSON, one object per change. An update is one line.

    {"table": "shop.orders", "op": "update", "ts": "2026-03-14 10:30:00Z", "gtid": "…:14", "server_id": 1,
     "thread_id": 12, "commit_version": 1099511744015, "seq": 974554923008, "file": "binlog.000001", "pos": 115895,
     "row": 0, "cascaded": false, "key": {"id": 1}, "before": {"id": 1, "status": "new"}, "after": {…}}

(Without spaces between members.) Images have the columns of the log, so null is NULL and an omitted column
is not in the log. `op` is insert, update, delete, truncate or alter; the image that a change does not have is null,
and so is the key of a table without one. `"statement"` follows `cascaded` if it was requested and the log has it;
`"diffs"` follows the images if the log has JSON diffs instead of documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.change_files.dividing import divided
from applier.jobs.change_files.values import AS_JSON, Writers, datetime_texts, texts_of
from applier.jobs.changes.commit_order import CommitOrder
from applier.jobs.changes.event_groups.groups import version_at
from applier.jobs.changes.row_statements import STATEMENT
from applier.jobs.json_lines.steps import AFTER, BEFORE, FIRST, LINE, PLAIN, QUOTED, Cells, Steps, cells_of, quoted
from applier.schema.table_parts import Column

OPERATIONS = ("insert", "update", "update", "delete", "truncate", "alter")
"""By the number of a feed's change type; the row before and the row after an update are one line."""
_DELETE = OPERATIONS.index("delete")
_PREIMAGE, _POSTIMAGE = 1, 2
_OF_CHANGE = ("ts", "gtid", "server_id", "thread_id", "commit_version", "seq", "file", "pos", "row", "cascaded")
_NO_PLACE = "\0"  # in no column's name


@dataclass(frozen=True)
class Lines:
    """Lines of JSON: line i is text[ends[i - 1]:ends[i]]. `order`, int64[n], ascends: the order of their events in the
    log, or of their XA COMMIT, by which lines of several tables are merged."""

    text: np.ndarray
    ends: np.ndarray
    order: np.ndarray


class JsonLines:
    """Makes lines of a table's batches. `columns`, `key` and `order` are as the feed has them."""

    writers: Writers = AS_JSON
    operations: tuple[str, ...] = OPERATIONS
    leaves_out_statements = True
    has_diffs = True
    """Whether a line can have JSON diffs."""
    """Whether a line without a statement has no such member, instead of null."""

    def __init__(self, table: tuple[str, str], columns: Mapping[str, Column], key: Sequence[str],
                 order: CommitOrder) -> None:
        self._table, self._columns, self._key, self._order = table, columns, key, order

    def lines(self, batch: pa.RecordBatch) -> Iterator[Lines]:
        """Yield the lines of a batch, in parts of bounded size."""
        for part in divided(batch):
            lines = self._divided(part)
            if not len(lines):
                continue
            cells = [*self._of_table(part), *(cells_of(mode, texts) for mode, texts in self._of_change(part)),
                     *(self._diffs(part) if self.has_diffs else []), *self._statement(part)]
            text, ends = self._steps([column.mode for column in cells]).write(lines, cells)
            files = part.column("_file")
            starts = np.array([version_at(name, 0, 0) for name in files.dictionary.to_pylist()], np.int64)
            positions = starts[files.indices.to_numpy()] | part.column("_pos").to_numpy()
            positions = np.where(self._order.are_prepared(part), part.column("_commit_version").to_numpy(), positions)
            yield Lines(text, ends, np.maximum.accumulate(positions[lines["row"]]))

    def _divided(self, batch: pa.RecordBatch) -> np.ndarray:
        """Return the batch's rows as lines."""
        types = _types(batch)
        first = np.flatnonzero(types != _POSTIMAGE)
        kinds = types[first]
        lines = np.zeros(len(first), LINE)
        lines["operation"], lines["row"] = kinds, first
        has_before = (kinds == _PREIMAGE) | (kinds == _DELETE)
        lines["before"] = np.where(has_before, first, -1)
        lines["after"] = np.where(kinds == _PREIMAGE, first + 1, np.where(kinds == 0, first, -1))
        return lines

    def _of_table(self, batch: pa.RecordBatch) -> list[Cells]:
        """Return the table's columns."""
        patterns, missing = _missing(batch.column("_present"), list(self._columns))
        found = []
        for number, (name, column) in enumerate(self._columns.items()):
            cells = cells_of(*texts_of(batch.column(name), column.type, self.writers))
            if patterns is not None:
                cells.leave_out(missing[patterns, number])
            found.append(cells)
        return found

    def _of_change(self, batch: pa.RecordBatch) -> list[tuple[int, pa.Array]]:
        """Return the description of a change, as modes and texts, behind the table's columns."""
        return [(QUOTED, datetime_texts(batch.column("_commit_timestamp"), "s")), gtids(batch),
                *((PLAIN, batch.column(name).cast(pa.string()))
                  for name in ("_server_id", "_thread_id", "_commit_version", "_seq")),
                *positions(batch), (PLAIN, batch.column("_cascaded").cast(pa.string()))]

    def _diffs(self, batch: pa.RecordBatch) -> list[Cells]:
        """Return the JSON diffs of each update, if it has any, at its first row."""
        texts = diffs_of_lines(batch)
        cells = cells_of(PLAIN, texts)
        cells.leave_out(texts.is_null().to_numpy(zero_copy_only=False))
        return [cells]

    def _statement(self, batch: pa.RecordBatch) -> list[Cells]:
        """Return the statement behind the change, if the feed has it; it comes last."""
        if STATEMENT.name not in batch.schema.names:
            return []
        texts = batch.column(STATEMENT.name).cast(pa.string())
        cells = cells_of(QUOTED, texts)
        if self.leaves_out_statements:
            cells.leave_out(texts.is_null().to_numpy(zero_copy_only=False))
        return [cells]

    def _steps(self, modes: Sequence[int]) -> Steps:
        n = len(self._columns)
        steps = Steps(self.operations).text(f'{{"table":{quoted(".".join(self._table))},"op":"').operation().text('",')
        for number, name in enumerate(_OF_CHANGE, n):
            steps.value(name, number, modes[number], last=name == _OF_CHANGE[-1])
        diffs = n + len(_OF_CHANGE)
        if len(modes) > diffs + 1:
            steps.member("statement", len(modes) - 1, modes[-1])
        members = self._members(modes)
        steps.text(',"key":')
        if self._key:
            steps.image(FIRST, [member for member in members if member[0] in self._key])
        else:
            steps.text("null")
        steps.text(',"before":').image(BEFORE, members)
        return steps.text(',"after":').image(AFTER, members).member("diffs", diffs, modes[diffs]).text("}\n")

    def _members(self, modes: Sequence[int]) -> list[tuple[str, int, int]]:
        return [(name, number, modes[number]) for number, name in enumerate(self._columns)]


def diffs_of_lines(batch: pa.RecordBatch) -> pa.Array:
    """Return the JSON diffs of updates, which the feed has with the row after an update, at the row before it."""
    texts = batch.column("_diffs")
    return pa.concat_arrays([texts.slice(1), pa.nulls(min(1, len(texts)), texts.type)])


def gtids(batch: pa.RecordBatch) -> tuple[int, pa.Array]:
    """Return GTIDs, as a mode and texts."""
    return QUOTED, batch.column("_gtid").cast(pa.string())


def positions(batch: pa.RecordBatch) -> list[tuple[int, pa.Array]]:
    """Return the file, position and row of changes, as modes and texts."""
    return [(QUOTED, batch.column("_file").cast(pa.string())),
            (PLAIN, batch.column("_pos").cast(pa.string())),
            (PLAIN, batch.column("_row").cast(pa.string()))]


def _types(batch: pa.RecordBatch) -> np.ndarray:
    types: np.ndarray = batch.column("_change_type").indices.to_numpy()
    return types


def _missing(present: pa.Array, names: list[str]) -> tuple[np.ndarray | None, np.ndarray]:
    """Of images: which pattern (int[rows]) each has, and which columns a pattern does not have (bool[patterns,
    columns]); None where all images have all columns."""
    if present.null_count == len(present):
        return None, np.empty((0, 0), np.bool_)
    joined = pc.binary_join(present, _NO_PLACE).dictionary_encode()
    missing = [np.zeros(len(names), np.bool_)]
    for pattern in joined.dictionary.to_pylist():
        known = set(pattern.split(_NO_PLACE))
        missing.append(np.array([name not in known for name in names], np.bool_))
    patterns: np.ndarray = joined.indices.cast(pa.int64()).fill_null(-1).to_numpy() + 1
    return patterns, np.array(missing)
