"""What a row store keeps of each row: *parts*, and how they come out of a batch's images and a base's rows.

A part is a column's value as bytes that are equal where the values are (keysearch.keybytes, with the byte that says
NULL or not), or of a unique key's part what the key compares: the first characters of a column, by its collation.
Before-images compare byte for byte.

A table whose before-images always have a unique key keeps only its keys' parts. Where rows are found by what they hold
(FIND: by a key that is not unique, or by a scan), every stored column is one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.index.row_parts import EncodedRowPart, Search
from applier.apply.spec import RowPart, content_part
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import DecodedChanges
from applier.binlog.rows.layout import ColumnPlan, ImageBuffers
from applier.columns.generated_columns import AfterImages, Completed, generated_column, source_numbers, why_not_compared
from applier.columns.image_values import absent_flags, without_nulls
from applier.columns.replica_defaults import ReplicaDefaults, Seconds
from applier.columns.table_key import table_key
from applier.columns.values import finish_column
from applier.errors import SchemaError
from applier.mysql.types import arrow_type
from applier.schema.definition import Column, TableDefinition
from applier.schema.key_infos import clustered_key, key_collation
from keysearch.choose import AccessPath, ColumnInfo, KeyInfo, choose_access_path, server_order
from keysearch.collation import equality_column
from keysearch.keybytes import KeyBytes, encode_keys


@dataclasses.dataclass(frozen=True)
class UniqueKey:
    """A primary or unique key: its name, and which parts it is over."""

    name: str
    parts: tuple[int, ...]


class RowPartEncoder:
    """The parts of one table. by_content: rows may have to be found by what they hold. also: further ones."""

    def __init__(self, definition: TableDefinition, *, by_content: bool, also: tuple[RowPart, ...] = ()):
        self.definition, self.by_content = definition, by_content
        self._defaults = ReplicaDefaults(definition)
        self.parts: list[RowPart] = []
        self.unique = [UniqueKey(key.name, tuple(self._number(self._compared(column, prefix))
                                                 for column, prefix in key.parts if column is not None))
                       for key in self._unique_keys()]
        for column in self.stored if by_content else self.kept_for_generated:
            self._number(content_part(column, definition) if by_content else RowPart(column))
        for part in also:
            self._number(part)

    @cached_property
    def stored(self) -> tuple[int, ...]:
        """Numbers of the columns that a snapshot has."""
        return tuple(c for c, column in enumerate(self.definition.columns) if column.generated != "virtual")

    @cached_property
    def _columns(self) -> list[ColumnInfo]:
        return [ColumnInfo(column.name, column.nullable) for column in self.definition.columns]

    @cached_property
    def _keys(self) -> list[KeyInfo]:
        return [KeyInfo(key.name, key.kind, tuple(
            (None if part.column is None else self.definition.column_index(part.column), part.length)
            for part in key.parts), key.visible) for key in self.definition.row_keys]

    def _unique_keys(self) -> list[KeyInfo]:
        """Those that can be compared, those over VIRTUAL columns last: they find and order no rows."""
        compared = [why_not_compared(key, self.definition) is None for key in self.definition.row_keys]
        keys = [key for key, is_compared in zip(self._keys, compared, strict=True)
                if is_compared and key.kind in ("primary", "unique")]
        ordered = server_order(self._columns, keys)
        return sorted(ordered, key=lambda key: not all(column in self.stored for column, _ in key.parts))

    @property
    def clustered(self) -> bool:
        """Whether InnoDB keeps the rows in the order of the first unique key."""
        key = clustered_key(self.definition)
        return key is not None and bool(self.unique) and self.unique[0].name == key.name

    def _compared(self, column: int, prefix: int | None) -> RowPart:
        """What a key compares of a column."""
        return RowPart(column, prefix, key_collation(self.definition.columns[column], self.definition.flavour))

    def _number(self, part: RowPart) -> int:
        if part not in self.parts:
            self.parts.append(part)
        return self.parts.index(part)

    def unique_for(self, present: frozenset[int]) -> int | None:
        """The number of the unique key by which before-images that have these columns find the row, whatever else they
        hold; None where no key does (FIND, IDX-R1 to R4)."""
        choice = self._choice(present)
        names = [key.name for key in self.unique]
        return names.index(choice.name) if choice.is_exact else None

    def _choice(self, present: frozenset[int]) -> AccessPath:
        keys = [key for key in self._keys if all(column is None or column in self.stored for column, _ in key.parts)]
        return choose_access_path(self._columns, keys, set(present), self.definition.flavour)

    def search(self, present: frozenset[int]) -> Search:
        """How a row is found by a before-image that has these columns."""
        unique, kind = self.unique_for(present), self._choice(present).kind
        if unique is not None:
            return Search(unique=unique, kind=kind)
        return Search(parts=self.whole(tuple(column for column in self.stored if column in present)),
                      ranked=not present.issuperset(self.stored), kind=kind,
                      is_passed_over=self.definition.flavour == "mariadb")

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The parts of the key that the snapshot's files are sorted by; none for a table without one."""
        key = table_key(self.definition)
        return next(unique.parts for unique in self.unique if unique.name == key.choice.name) if key else ()

    def whole(self, columns: tuple[int, ...]) -> tuple[int, ...]:
        """The parts that these columns are as a whole."""
        return tuple(self.parts.index(content_part(column, self.definition)) for column in columns)

    @cached_property
    def _made_of(self) -> set[int]:
        """Numbers of the columns that the generated ones of unique keys are made of."""
        found: set[int] = set()
        more = set(self.generated)
        while more:
            column = self.definition.columns[more.pop()]
            made_of = set(source_numbers(column, self.definition)) - found if column.generated else set()
            found, more = found | made_of, more | made_of
        return found

    @cached_property
    def generated(self) -> dict[int, str]:
        """Generated columns of unique keys, by number, and the keys, for people."""
        found: dict[int, list[str]] = {}
        for key in self.unique:
            for column in {self.parts[part].column for part in key.parts}:
                if self.definition.columns[column].generated:
                    found.setdefault(column, []).append(key.name)
        return {column: ", ".join(names) for column, names in found.items()}

    # ---- out of images and rows

    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        """What to decode of each image."""
        columns = {part.column for part in self.parts} | self._made_of
        return [plan if c in columns else None for c, plan in enumerate(plans)]

    def of_images(self, images: ImageBuffers, rows: int, table_map: TableMap, seconds: Seconds,
                  inserted: np.ndarray | None = None) -> list[EncodedRowPart]:
        """The parts of the first `rows` images of a batch; what an insert's image lacks is the column's default
        (DEF-R1a, b), given which images are such (bool[rows]; None: none is). Columns that the log does not have are
        lacking in all."""
        finished = self._all_finished(images, rows, table_map, seconds, {})
        return self._inputs(finished, rows, seconds, inserted)

    def of_after_images(self, images: ImageBuffers, rows: int, table_map: TableMap, seconds: Seconds,
                        inserted: np.ndarray, documents: dict[int, pa.Array],
                        placed: Callable[[SchemaError, np.ndarray], SchemaError],
                        ) -> tuple[list[EncodedRowPart], AwaitedImages | None]:
        """The parts of the first `rows` after-images of a batch, and what some await of the rows that are found.
        `documents` has the values of JSON columns with diffs. `placed` gives an error about some images (bool[rows])
        its place."""
        finished = self._all_finished(images, rows, table_map, seconds, documents)
        made: dict[int, Completed] = {}
        after = AfterImages(self.definition, self._defaults, inserted, seconds, finished)
        for column, keys in self.generated.items() if rows else ():
            try:
                made[column] = after.completed(column, placed)
            except SchemaError as error:
                raise error.at(key=keys) from None
        inputs = [self.made_input(part, made[part.column]) if part.column in made else one
                  for part, one in zip(self.parts, self._inputs(finished, rows, seconds, inserted), strict=True)]
        awaits = any(column.waiting.any() for column in made.values())
        return inputs, AwaitedImages(self, after, made, inputs) if awaits else None

    def _all_finished(self, images: ImageBuffers, rows: int, table_map: TableMap, seconds: Seconds,
                      documents: dict[int, pa.Array]) -> dict[int, tuple[pa.Array, np.ndarray | None]]:
        return {column: self._finished(images, column, rows, table_map, seconds, documents.get(column))
                for column in {part.column for part in self.parts} | self._made_of
                if column < len(table_map.types)}

    def _inputs(self, finished: dict[int, tuple[pa.Array, np.ndarray | None]], rows: int, seconds: Seconds,
                inserted: np.ndarray | None) -> list[EncodedRowPart]:
        return [self._input(part, rows, seconds, inserted, *finished.get(part.column, (None, None)))
                for part in self.parts]

    @cached_property
    def kept_for_generated(self) -> tuple[int, ...]:
        """Numbers of the columns that generated ones of unique keys are made of, as far as rows have them."""
        return tuple(sorted(self._made_of & set(self.stored)))

    def made_input(self, part: RowPart, made: Completed) -> EncodedRowPart:
        """A part of a generated column."""
        return EncodedRowPart(self.encoded(part, made.values), made.left if made.left.any() else None)

    def null(self, part: RowPart) -> bytes:
        """What a row has of a part whose column is NULL."""
        return self.encoded(part, pa.nulls(1, arrow_type(self.definition.columns[part.column].type)))[0]

    def values(self, images: ImageBuffers, column: int, rows: int, table_map: TableMap, seconds: Seconds) -> pa.Array:
        """The values of a column in the first `rows` images of a batch."""
        return self._finished(images, column, rows, table_map, seconds, None)[0]

    def _finished(self, images: ImageBuffers, column: int, rows: int, table_map: TableMap, seconds: Seconds,
                  documents: pa.Array | None) -> tuple[pa.Array, np.ndarray | None]:
        values = documents if documents is not None else finish_column(
            images.columns[column].arrow(rows), self.definition.columns[column],
            table_map.types[column], table_map.metadata[column])
        absent = absent_flags(images.columns[column].absent_rows(rows))
        return without_nulls(values, self.definition.columns[column], self._defaults, seconds, absent), absent

    def _input(self, part: RowPart, rows: int, seconds: Seconds, inserted: np.ndarray | None, values: pa.Array | None,
               absent: np.ndarray | None) -> EncodedRowPart:
        if values is not None and absent is None:
            return EncodedRowPart(self.encoded(part, values))
        column = self.definition.columns[part.column]
        absent = np.ones(rows, np.bool_) if values is None else absent
        default: pa.Array | pa.Scalar = pa.scalar(None, arrow_type(column.type))
        if inserted is not None and (absent & inserted).any():
            default = self._default(column, values is not None, seconds)
        if isinstance(default, pa.Array):
            values = default if values is None else pc.if_else(pa.array(absent), default, values)
            return EncodedRowPart(self.encoded(part, values), absent, None)
        keys = KeyBytes(np.zeros(rows + 1, np.int64), np.empty(0, np.uint8)) if values is None else \
            self.encoded(part, values)
        return EncodedRowPart(keys, absent, self.encoded(part, pa.repeat(default, 1))[0])

    def _default(self, column: Column, logged: bool, seconds: Seconds) -> pa.Array | pa.Scalar:
        """What inserts have for a column that their images lack; `logged`: the log has the column. Of a generated one
        no key wants it."""
        if column.generated or (not logged and column.auto_increment):
            return pa.scalar(None, arrow_type(column.type))  # no unique key compares it: each row gets one of its own
        return self._defaults.left_out(column, seconds)

    def encoded(self, part: RowPart, values: pa.Array | pa.ChunkedArray) -> KeyBytes:
        """Values of a part's column as the part's bytes."""
        if pa.types.is_list(values.type):  # VECTOR: by its numbers' bytes
            values = _vector_bytes(values)
        if part.by_bits and pa.types.is_floating(values.type):
            whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
            values = whole.view(pa.int32() if whole.type == pa.float32() else pa.int64())
        if part.prefix is not None:
            cut = pc.utf8_slice_codeunits if pa.types.is_string(values.type) else pc.binary_slice
            values = cut(values, 0, part.prefix)
        if part.collation is not None:
            values = equality_column(values, part.collation)
        return encode_keys([values], [True])

    def of_rows(self, rows: pa.Table) -> list[KeyBytes]:
        """The parts of a base's rows."""
        virtual = {column: self._virtual(column, rows) for column in self.generated if column not in self.stored}
        return [self.encoded(part, virtual[part.column] if part.column in virtual else
                             rows.column(self.definition.columns[part.column].name)) for part in self.parts]

    def _virtual(self, column: int, rows: pa.Table) -> pa.Array | pa.ChunkedArray:
        """A VIRTUAL column of a base's rows, which do not have it."""
        try:
            return generated_column(self.definition.columns[column], self.definition, rows.column, rows.num_rows)
        except SchemaError as error:
            raise error.at(key=self.generated[column]) from None

    def searches(self, batch: DecodedChanges, logged: int) -> tuple[np.ndarray, list[Search]]:
        """How the rows of a batch's before-images are found: (int64 by row of the before-images, what it numbers).
        logged: how many columns the log's images may have."""
        here = [column for column in self.stored if column < logged and column in batch.before.columns]
        absent = {column: flags.to_numpy(zero_copy_only=False) for column in here
                  if (flags := batch.before.columns[column].absent_rows(batch.n_before)) is not None}
        some = [column for column, flags in absent.items() if flags.any()]
        if not some:
            return self._exact_where_not_null(batch, np.zeros(batch.n_before, np.int64), [frozenset(here)])
        patterns, which = np.unique(np.array([absent[column] for column in some]), axis=1, return_inverse=True)
        kinds = [frozenset(here).difference(np.array(some)[pattern].tolist()) for pattern in patterns.T]
        return self._exact_where_not_null(batch, which.reshape(-1), kinds)

    def _exact_where_not_null(self, batch: DecodedChanges, access_paths: np.ndarray,
                 kinds: list[frozenset[int]]) -> tuple[np.ndarray, list[Search]]:
        """What `searches` returns, given which columns each kind of before-image has: those without a NULL in a key
        that identifies the row are then searched by that key alone."""
        found = [self.search(present) for present in kinds]
        for way, present in enumerate(kinds):
            choice = self._choice(present)
            if choice.unless_null:
                nulls = [batch.before.columns[column].arrow(batch.n_before).is_null() for column in choice.columns]
                alone = (access_paths == way) & ~np.logical_or.reduce([np.asarray(column) for column in nulls])
                access_paths = np.where(alone, len(found), access_paths)
                found.append(Search(unique=[key.name for key in self.unique].index(choice.name), kind=choice.kind))
        return access_paths, found


class AwaitedImages:
    """What after-images of a batch await of the rows that they find (row_store.AwaitedValues): generated columns that
    are made of what images have and of what rows have. `made` and `inputs` are what is known without."""

    def __init__(self, parts: RowPartEncoder, after: AfterImages, made: dict[int, Completed],
                 inputs: list[EncodedRowPart]):
        self._parts, self._after, self._made, self._inputs = parts, after, made, inputs
        self.waiting = np.logical_or.reduce([column.waiting for column in made.values()])
        self.columns = parts.kept_for_generated

    def told(self, images: np.ndarray, rows: pa.Table) -> list[EncodedRowPart]:
        for column, made in self._made.items():
            chosen = made.waiting[images]
            if chosen.any():
                self._made[column] = self._told(column, made, images[chosen], rows.filter(pa.array(chosen)))
        self._inputs = [self._parts.made_input(part, self._made[part.column]) if part.column in self._made else one
                        for part, one in zip(self._parts.parts, self._inputs, strict=True)]
        return self._inputs

    def _told(self, column: int, made: Completed, images: np.ndarray, rows: pa.Table) -> Completed:
        try:
            values = self._after.of_found_rows(column, images, rows)
        except SchemaError as error:
            raise error.at(key=self._parts.generated[column]) from None
        chosen, order = np.zeros(len(made.left), np.bool_), np.argsort(images)
        chosen[images] = True
        return Completed(pc.replace_with_mask(made.values, pa.array(chosen), values.take(pa.array(order))),
                         made.left & ~chosen, made.waiting)


def _vector_bytes(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Each list of floats as the bytes of its items."""
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    offsets = (values.offsets.to_numpy().astype(np.int64) * 4).astype(np.int32)
    items = pa.py_buffer(np.ascontiguousarray(values.values.to_numpy(zero_copy_only=False), np.float32))
    valid = pa.array(values.is_valid()).buffers()[1] if values.null_count else None
    return pa.Array.from_buffers(pa.binary(), len(values), [valid, pa.py_buffer(offsets), items])
