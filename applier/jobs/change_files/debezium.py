"""Changes in the format of Debezium's connectors for MySQL and MariaDB: the payload of a message value, one per line.

    {"before": {…}, "after": {…}, "source": {"version": …, "connector": "mysql", …}, "op": "u", "ts_ms": …}

`op` is c, u, d, or t for a table that was emptied. As there, an update that changes a row's key is a delete of the old
row and a create of the new one. `ts_ms` is the commit's time in both places, so that the same log gives the same lines.
`source.sequence` orders the changes and is unique per table, except for such a delete and its create.
Consumers treat every image as a whole row, so an image with missing columns is an error.
Source: Debezium reference, "Debezium connector for MySQL", "Data change events".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import UnsupportedEvent
from applier.jobs.change_files.lines import JsonLines, gtids, positions
from applier.jobs.change_files.values import AS_DEBEZIUM
from applier.jobs.changes.commit_order import CommitOrder
from applier.jobs.json_lines.steps import AFTER, BEFORE, PLAIN, QUOTED, Steps, quoted
from applier.schema.table_parts import Column

_CREATE, _UPDATE, _DELETE, _ALTER = 0, 1, 3, 5
"""Change types, as lines have them."""
_OF_CHANGE = 8
"""The columns that describe a change, besides its statement."""


class DebeziumLines(JsonLines):
    """Makes the lines."""

    writers = AS_DEBEZIUM
    operations = ("c", "u", "u", "d", "t", "")
    leaves_out_statements = has_diffs = False

    def __init__(self, table: tuple[str, str], columns: Mapping[str, Column], key: Sequence[str],
                 order: CommitOrder, flavour: str, version: str) -> None:
        super().__init__(table, columns, key, order)
        self._flavour, self._version = flavour, version
        self.left_out = 0
        """Changes without a line: ALTERs that convert values, for which Debezium has no event."""

    def _divided(self, batch: pa.RecordBatch) -> np.ndarray:
        self._check_whole(batch)
        lines: np.ndarray = super()._divided(batch)
        is_alter = lines["operation"] == _ALTER
        self.left_out += int(is_alter.sum())
        lines = lines[~is_alter]
        moved = self._moved(batch, lines)
        if not moved.any():
            return lines
        lines = np.repeat(lines, moved + 1)
        second = np.cumsum(moved + 1)[moved] - 1
        lines["operation"][second - 1], lines["after"][second - 1] = _DELETE, -1
        lines["operation"][second], lines["before"][second] = _CREATE, -1
        return lines

    def _check_whole(self, batch: pa.RecordBatch) -> None:
        """Raise UnsupportedEvent for an image with missing columns."""
        present = batch.column("_present")
        if present.null_count < len(present):
            row = int(np.argmax(present.is_valid().to_numpy(zero_copy_only=False)))
            what = ("this update contains a JSON diff, not the whole document" if batch.column("_diffs")[row].is_valid
                    else "this image does not contain all columns")
            raise UnsupportedEvent(f"{what}, and Debezium events need whole rows",
                                   file=batch.column("_file")[row].as_py(), position=batch.column("_pos")[row].as_py(),
                                   row=batch.column("_row")[row].as_py(), table=".".join(self._table),
                                   hint="--complete builds whole rows from a base")

    def _moved(self, batch: pa.RecordBatch, lines: np.ndarray) -> np.ndarray:
        """Return which lines are updates of the key: bool[n]."""
        updates = np.flatnonzero(lines["operation"] == _UPDATE)
        moved = np.zeros(len(lines), np.bool_)
        befores, afters = pa.array(lines["before"][updates]), pa.array(lines["after"][updates])
        for name in self._key:
            values = batch.column(name)
            differ = pc.not_equal(values.take(befores), values.take(afters)).fill_null(False)
            moved[updates] |= differ.to_numpy(zero_copy_only=False)
        return moved

    def _of_change(self, batch: pa.RecordBatch) -> list[tuple[int, pa.Array]]:
        times = pc.divide(batch.column("_commit_timestamp").cast(pa.int64()), 1000).cast(pa.string())
        version, seq, servers, threads = (batch.column(name).cast(pa.string())
                                          for name in ("_commit_version", "_seq", "_server_id", "_thread_id"))
        sequence = pc.binary_join_element_wise('["', version, '","', seq, '"]', "")
        return [(PLAIN, times), (QUOTED, sequence), (PLAIN, servers), gtids(batch), *positions(batch),
                (PLAIN, threads)]

    def _steps(self, modes: Sequence[int]) -> Steps:
        n, members = len(self._columns), self._members(modes)
        steps = Steps(self.operations).text('{"before":').image(BEFORE, members)
        steps.text(',"after":').image(AFTER, members)
        steps.text(f',"source":{{"version":{quoted(self._version)},"connector":{quoted(self._flavour)},'
                   '"name":"applier",').value("ts_ms", n, modes[n])
        steps.text(f'"snapshot":"false","db":{quoted(self._table[0])},').value("sequence", n + 1, modes[n + 1])
        steps.text(f'"table":{quoted(self._table[1])},')
        for number, name in enumerate(("server_id", "gtid", "file", "pos", "row", "thread"), n + 2):
            steps.value(name, number, modes[number])
        if len(modes) > n + _OF_CHANGE:
            steps.value("query", n + _OF_CHANGE, modes[-1], last=True)
        else:
            steps.text('"query":null')
        steps.text('},"transaction":null,"op":"').operation().text('",')
        return steps.value("ts_ms", n, modes[n], last=True).text("}\n")
