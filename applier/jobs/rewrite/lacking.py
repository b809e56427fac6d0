"""The missing columns of a table's images, batch by batch, collected while the previous rows are available.

Values that come from a base, from defaults, or from a replica's computations are encoded as the log has them. Some
have unknown bytes, since several values of the log are the same in a snapshot: documents, whose numbers
and texts have several types there; members of an ENUM or SET with an empty one; text with a character that has
several codes in its set, such as the replacement for codes without a character. So have values that nothing here writes
(writer.values)."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.index.diff_kernel import DIFF_ID
from applier.apply.index.pointer_kernel import COMPUTED
from applier.apply.output.row_steps import WINDOW_BYTES, Steps
from applier.apply.tables.logged_table import TableReading
from applier.apply.tables.unit import UnitApplier
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.change_records import UPDATE
from applier.binlog.rows.changes import ChangeBatch
from applier.binlog.rows.image_pointers import layouts_of
from applier.jobs.rewrite.kernels import records as r
from applier.jobs.rewrite.kernels.fill_kernel import put_fills
from applier.jobs.rewrite.logged_documents import LoggedDocuments
from applier.jobs.rewrite.table_images import whole_columns
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.type_registry import Family
from applier.mysql.wire_types import FORMS, WireType
from applier.schema.table_parts import Column
from applier.sql.casting.texts import SINGLE_BYTE
from applier.writer.column_encoder import ENCODERS, PREFIXES, encode_column
from applier.writer.row_encoder import join
from applier.writer.values import image_values
from applier.writer.wire_columns import WireColumn
from keysearch.addresses import address_of

NULL = -1


class Cells:
    """Values of a column in memory: of each its address, its length (NULL), and whether it is known. They are valid as
    long as this object is."""

    def __init__(self, values: pa.Array, column: Column, table_map: TableMap, number: int) -> None:
        kind, metadata = WireType(table_map.types[number]), table_map.metadata[number]
        n = len(values)
        nulls = np.asarray(values.is_null())
        self.addresses, self.lengths, self.known = np.zeros(n, np.int64), np.full(n, NULL, np.int64), nulls
        if nulls.all() or not _is_exact(column, kind):
            return
        wire = WireColumn(column.name, kind, metadata, column.nullable, column.type.unsigned)
        try:
            cells = join(encode_column(image_values(values, column, wire), wire), n)
        except ValueError:
            return
        self._data = np.frombuffer(cells.buffers()[2], np.uint8)
        offsets = np.frombuffer(cells.buffers()[1], np.int32)[cells.offset:cells.offset + n + 1]
        self.addresses = address_of(self._data) + offsets[:-1].astype(np.int64)
        self.lengths = np.where(nulls, NULL, np.asarray(pc.binary_length(cells), np.int64))
        self.known = np.ones(n, np.bool_)
        if column.type.entry.family is Family.TEXT and (several := _with_several_codes(column.type.charset)):
            self.known &= ~np.asarray(pc.match_substring_regex(values, several).fill_null(False))


@functools.cache
def _with_several_codes(charset: str | None) -> str:
    """Return a pattern for the characters of a single-byte set that more than one code stands for; nothing if there are
    none."""
    if charset not in SINGLE_BYTE:
        return ""
    codes = Counter(to_utf8(pa.array([bytes([code]) for code in range(256)], pa.binary()), charset).to_pylist())
    several = "".join(re.escape(character) for character, n in codes.items() if n > 1)
    return f"[{several}]" if several else ""


def _is_exact(column: Column, kind: WireType) -> bool:
    """Return whether a snapshot's value tells the log's, and can be written."""
    shape = FORMS[kind].shape
    if kind == WireType.JSON or (shape not in ENCODERS and shape not in PREFIXES):
        return False
    return column.type.entry.family is not Family.MEMBERS or "" not in column.type.members


_FIRST_ROWS, _MOST_VALUES = 1 << 8, 1 << 19
_BEFORE, _AFTER = 0, 1
_NONE = -1


class Lacking:
    """The missing parts of images of a version of a table: columns, if they are to be `full`, and with `documents` the
    documents for which they have diffs. `unknown` counts, by column, the changes whose value is unknown; VIRTUAL
    columns have none."""

    def __init__(self, reading: TableReading, *, full: bool, documents: bool) -> None:
        self._full, self._whole_documents = full, documents
        definition = reading.definition
        self.table, self.unknown = definition.full_name, Counter[str]()
        self._reading, self._names = reading, [column.name for column in definition.columns]
        self._columns = whole_columns(definition, reading.table_map)
        self._n = len(self._columns)
        self._is_virtual = np.array([column.generated == "virtual" for column in definition.columns][:self._n])
        self._rows = _FIRST_ROWS
        self._values = np.zeros(r.IMAGES_AT_A_TIME * 2 * r.VALUE_BYTES, np.uint8)
        self._room = np.empty(1 << 20, np.uint8)
        self._documents = LoggedDocuments(reading, self._columns, self._values)

    def of_batch(self, batch: ChangeBatch, steps: Steps,
                 units: Sequence[UnitApplier]) -> Iterator[tuple[np.ndarray, memoryview]]:
        """Yield the missing parts of the images of a batch, whose steps these are: records (FILL[n]), with positions
        from 0 on, and their bytes."""
        if self._n != len(self._reading.table_map.types):
            return  # the log has other columns
        lacks = [np.append(of.any(axis=1), False) for of in self._lacks()]  # the last one is that of no image
        layouts = [layouts_of(batch.before_images), layouts_of(batch.images)]
        lacking = lacks[_BEFORE][layouts[_BEFORE]] | lacks[_AFTER][layouts[_AFTER]]
        if self._whole_documents:
            lacking |= batch.kinds == UPDATE  # of an event with diffs not all rows have some
        changes = np.flatnonzero(lacking)
        if not len(changes):
            return
        pointers, unit_of = np.full((2, batch.n), _NONE, np.int64), np.full((2, batch.n), _NONE, np.int32)
        own = steps.changes >= 0
        for image, found in ((_BEFORE, steps.old), (_AFTER, steps.new)):
            there = own & (found >= 0)
            pointers[image, steps.changes[there]], unit_of[image, steps.changes[there]] = found[there], \
                steps.units[there]
        positions, rows = batch.positions, batch.rows
        first = 0
        while first < len(changes):
            some = changes[first:first + min(self._rows, max(1, _MOST_VALUES // self._n))]
            fills = np.zeros(len(some), r.FILL)
            fills["position"], fills["row"] = positions[some], rows[some]
            images = [of[some] for of in (batch.before_images, batch.images)]
            data = self._put(fills, images, pointers[:, some], unit_of[:, some], units)
            yield fills, data
            first += len(some)
            self._rows = max(1, min(2 * self._rows, WINDOW_BYTES * len(some) // max(1, len(data))))

    def _layouts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which columns layouts have, and which of them have values: bool[layouts, columns]."""
        known = self._reading.layouts.known
        present, values = np.zeros((2, len(known), self._n), np.bool_)
        for number, layout in enumerate(known):
            present[number, list(layout.present)] = True
        values[:] = present
        for number, layout in enumerate(known):
            values[number, list(layout.diffs)] = False
        return present, values

    def _lacks(self) -> list[np.ndarray]:
        """Return the columns that images of layouts are to get, before and after: bool[layouts, columns] each."""
        present, values = self._layouts()
        columns = ~present & self._full
        return [columns, columns | (present & ~values & self._whole_documents)]

    def _put(self, fills: np.ndarray, images: Sequence[np.ndarray], pointers: np.ndarray, unit_of: np.ndarray,
             units: Sequence[UnitApplier]) -> memoryview:
        """Assemble the missing parts of some changes, given pointers to their images, and their rows' pointers, each of
        a unit: int64[2, n]. The records get the addresses."""
        n = len(fills)
        layouts = [layouts_of(of) for of in images]
        present, values = self._layouts()
        where = np.repeat(pointers[:, :, None], self._n, axis=2)
        for number in np.unique(unit_of[unit_of >= 0]).tolist():
            own = unit_of == number
            where[own] = units[number].traced_rows().by_column(pointers[own])[:, :self._n]
        lacks = np.stack([(of >= 0)[:, None] & kinds[np.maximum(of, 0)]
                          for of, kinds in zip(layouts, self._lacks(), strict=True)])
        same = lacks[_AFTER] & (layouts[_BEFORE] >= 0)[:, None] & (where[_BEFORE] == where[_AFTER]) & (
            where[_AFTER] != COMPUTED) & (where[_AFTER] >= 0) & ~self._is_virtual
        wanted = lacks & ~self._is_virtual
        wanted[_AFTER] &= ~same
        ids = layouts_of(where)
        are_images = (ids > 0) & (ids < len(values))
        in_image = wanted & are_images & values[np.where(are_images, ids, 0), np.arange(self._n)]
        kinds = np.where(in_image, np.uint8(r.IN_IMAGE), np.uint8(r.ABSENT))
        lengths, kept = np.empty((2, n, self._n), np.int64), list[object]()
        is_diff = wanted & (ids == DIFF_ID)
        if self._whole_documents:
            own = wanted[_AFTER] & present[np.maximum(layouts[_AFTER], 0)] & (layouts[_BEFORE] >= 0)[:, None] \
                & values[np.maximum(layouts[_BEFORE], 0)]
            is_diff[_AFTER] &= ~own
            kept += self._documents.set_of_images(own, images, kinds[_AFTER], where[_AFTER], lengths[_AFTER])
        computed = wanted & ~in_image & (ids != DIFF_ID) & ((where >= 0) | (where == COMPUTED))
        for number in np.unique(unit_of[unit_of >= 0]).tolist():
            own = (unit_of == number)[:, :, None]
            if (of_unit := computed & own).any():
                kept += self._set_values(of_unit, pointers, units[number], kinds, where, lengths)
            if (of_unit := is_diff & own).any():
                kept += self._documents.set(of_unit, units[number].traced_rows().diffs, kinds, where, lengths)
        self._count_unknown(lacks, kinds, same, layouts)
        return self._kernel(fills, present, kinds, where, lengths, same)

    def _set_values(self, wanted: np.ndarray, pointers: np.ndarray, unit: UnitApplier, kinds: np.ndarray,
                    where: np.ndarray, lengths: np.ndarray) -> list[object]:
        """Set the addresses of the values that a replay has, if they are what the log would have; return the objects to
        keep as long as these are used."""
        distinct = np.unique(pointers[wanted.any(axis=2)])
        numbers = np.flatnonzero(wanted.any(axis=(0, 1))).tolist()
        names = [self._names[number] for number in numbers]
        rows = pa.concat_tables(unit.traced_rows().at(distinct, names))
        kept = list[object]()
        for number in numbers:
            at = wanted[:, :, number]
            picks = np.searchsorted(distinct, pointers[at])
            column = self._reading.definition.columns[number]
            cells = Cells(rows.column(column.name).combine_chunks(), column, self._reading.table_map, number)
            kept.append(cells)
            kinds[:, :, number][at] = np.where(cells.known[picks], r.IN_MEMORY, r.ABSENT)
            where[:, :, number][at], lengths[:, :, number][at] = cells.addresses[picks], cells.lengths[picks]
        return kept

    def _count_unknown(self, lacks: np.ndarray, kinds: np.ndarray, same: np.ndarray,
                       layouts: Sequence[np.ndarray]) -> None:
        found = kinds != r.ABSENT
        known_before = ~lacks[_BEFORE] | found[_BEFORE]
        unknown = (lacks[_BEFORE] & ~found[_BEFORE]) | (lacks[_AFTER] & ~found[_AFTER] & ~(same & known_before))
        for number in np.flatnonzero(unknown.any(axis=0)).tolist():
            self.unknown[self._names[number]] += int(unknown[:, number].sum())

    def _kernel(self, fills: np.ndarray, present: np.ndarray, kinds: np.ndarray, where: np.ndarray,
                lengths: np.ndarray, same: np.ndarray) -> memoryview:
        bitmaps = np.packbits(present, axis=1, bitorder="little")
        sources, shared = np.zeros((), r.SOURCES), np.ascontiguousarray(same, np.uint8)
        for field, value in {
                "n": len(fills), "n_columns": self._n, "columns": address_of(self._columns),
                "layouts": address_of(bitmaps), "kinds": address_of(kinds), "where": address_of(where),
                "lengths": address_of(lengths), "same": address_of(shared), "values": address_of(self._values),
                "out": address_of(self._room), "room": len(self._room), "fills": address_of(fills)}.items():
            sources[field] = value
        done = 0
        while (done := int(put_fills(address_of(sources), done))) < len(fills):
            larger, used = np.empty(2 * len(self._room), np.uint8), int(sources["used"])
            larger[:used] = self._room[:used]
            self._room = larger
            sources["out"], sources["room"] = address_of(larger), len(larger)
        return self._room[:int(sources["used"])].data
