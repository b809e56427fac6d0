"""One unit of work: a key range of a table, its base rows, and the changes that come to it in commit order.

A change that cannot be applied stops the unit as it would stop a replica: 1062 where the key is there twice, 1032
where the row is not there. Which transaction that is, the driver looks up by the position.
"""

from __future__ import annotations

from typing import Any

from applier.apply.change_keys import ChangeKeys
from applier.apply.key_index import ByteIndex, Conflict, IntIndex
from applier.apply.rows import LoggedColumns, RowGatherer, table_schema
from applier.apply.work import UnitResult, UnitSpec
from applier.binlog.changes import ChangeBatch, ImageLayouts
from applier.binlog.mapping import MappedFile
from applier.binlog.table_map import TableMap
from applier.errors import DUPLICATE_KEY, KEY_NOT_FOUND, ReplayStopped
from applier.snapshot.reader import read_unit
from applier.snapshot.writer import TableWriter


class UnitApplier:
    """Applies changes to a unit. Calls come in commit order: `take` any number of times, then `finish`.

    `layouts` numbers the after-image layouts of the table; units of one table in one task share it. `stopped` is the
    error of the first change that could not be applied; nothing is applied after it.
    """

    def __init__(self, spec: UnitSpec):
        self.spec = spec
        key, columns = spec.key, len(spec.definition.columns)
        self._index = (IntIndex if key.form == "int" else ByteIndex)(columns, spec.low, spec.high)
        self._base = table_schema(spec.definition).empty_table()
        self._logged: LoggedColumns | None = None
        self._layouts: ImageLayouts | None = None
        self.stopped: ReplayStopped | None = None
        self._files: list[MappedFile] = []

    def begin(self, table_map: TableMap, layouts: ImageLayouts) -> None:
        """The table's first changes are coming, with these columns and layouts: read the base's rows."""
        definition = self.spec.definition
        stored = tuple(c for c, column in enumerate(definition.columns) if column.generated != "virtual")
        self._layouts, self._logged = layouts, LoggedColumns(stored, table_map.types, table_map.metadata)
        self._seed()

    def lies_in(self, file: MappedFile) -> None:
        """Tell of memory that images of later batches lie in; it stays as long as the unit."""
        self._files.append(file)

    def take(self, batch: ChangeBatch, keys: tuple[Any, ...], reader: ChangeKeys) -> None:
        """Apply a batch of changes of this table: `keys` are theirs as the index takes them, as `reader` read them."""
        if self.stopped is None:
            conflict = self._index.apply(batch, self._layouts, *keys)
            if conflict is not None:
                self.stopped = self._stop(batch, conflict, reader)

    def _seed(self) -> None:
        """Read the base's rows and put their keys in the index."""
        spec = self.spec
        if spec.base is None or not spec.base_files:
            return
        self._base = read_unit(spec.base, spec.base_files, table_schema(spec.definition))
        self._index.seed(spec.key.encode([self._base.column(name) for name in spec.key.names]))

    def finish(self) -> UnitResult:
        """Write the rows that are left, in key order; nothing where no change came into the unit's range."""
        index, spec, files, zero_dates = self._index, self.spec, None, 0
        if self._is_changed() and spec.place is not None:
            gatherer = RowGatherer(spec.definition, self._logged, self._layouts, index.patches, self._base, self._files)
            with TableWriter(spec.place, unit=spec.number, schema=gatherer.schema, key=spec.key.names,
                             key_kind=spec.key.form) as writer:
                for rows in gatherer.batches(index.pointers()):
                    writer.write(rows)
                files, zero_dates = tuple(writer.close()), gatherer.zero_dates
        return UnitResult(spec.number, index.inserted, index.updated, index.deleted, zero_dates, files)

    def _is_changed(self) -> bool:
        """A row that moves in from another unit is counted there."""
        index = self._index
        return bool(index.inserted or index.updated or index.deleted) or index.live != self._base.num_rows

    def _stop(self, batch: ChangeBatch, conflict: Conflict, keys: ChangeKeys) -> ReplayStopped:
        change, name = conflict.change, self.spec.definition.full_name
        image = batch.after_rows[change] if conflict.duplicate else batch.before_rows[change]
        key = keys.text(batch, int(image), conflict.duplicate)
        what = ("a row with this key is there already", DUPLICATE_KEY) if conflict.duplicate else \
            ("the row to change is not there", KEY_NOT_FOUND)
        names = ", ".join(self.spec.key.names)
        place, row = int(batch.places[change]), int(batch.rows[change])
        return ReplayStopped(what[0], file=batch.file.uri, position=place, row=row, table=name,
                             key=f"{self.spec.key.choice.name} ({names}) = {key}", errno=what[1])

