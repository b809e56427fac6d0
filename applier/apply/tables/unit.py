"""One unit of work: rows of a table, and the changes that come to them in commit order.

A change that cannot be applied stops the unit as it would stop a replica: 1062 where the key is there twice, 1032
where the row is not there. Which transaction that is, the driver looks up by the position.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, Generic

import numpy as np
import pyarrow as pa

from applier.apply.index.pointer_kernel import TRACED
from applier.apply.merged_changes import MergedChanges
from applier.apply.output.merged_unit import ChangedUnit, StoredRows, is_small
from applier.apply.output.rows import CHUNK_ROWS, RowGatherer
from applier.apply.output.unit_files import Written, write_unit
from applier.apply.search.unit_search import LeavesUnit, RefusedChange, Taken, UnitSearch
from applier.apply.spec import Altered, Exchanged, ExchangeGroup, FromBase, UnitSpec, in_order_of_rows
from applier.apply.tables.logged_table import TableReading
from applier.apply.tables.rows_before import rows_before
from applier.apply.tables.traced_rows import TracedRows
from applier.apply.tables.unit_memory import UnitMemory
from applier.apply.tables.unit_witness import UnitWitness
from applier.apply.tasks import PlanAgain, Refused, UnitResult
from applier.apply.witnessed import OFF, STOP, Witnessed, together
from applier.binlog.rows.changes import Changes
from applier.binlog.rows.partial_updates import N_DIFFS, PartialUpdates
from applier.columns.alter.scan_order import Arrivals
from applier.columns.extra_columns import ExtraColumns
from applier.errors import DUPLICATE_KEY, KEY_NOT_FOUND, ApplierError, ReplayStopped, SchemaError
from applier.io.mapping import MappedFile
from applier.schema.definition import table_schema, without_rows
from applier.snapshot.writer import TableTarget
from keysearch.keybytes import KeyBytes

_ROWS = 4
"""Numbers that come before those of diffs in `UnitApplier._counts`."""


class UnitApplier(ABC, Generic[Taken]):
    """Applies changes to a unit. Calls come in commit order: `bind_table_map`, `take` any number of times, and then
    `finish`. While no change has come it has no rows in memory, and passes those that are there on.

    `sources` are the units that `spec.sources` names, whose rows come to this one: all their changes come before.

    JSON diffs are applied last, so that one of them does not fit is known only then (`finish`, or `check` where nothing
    will be written), and it may come before what stopped the unit. So is what statements of DDL made of the rows, where
    no change came after them.
    """

    def __init__(self, spec: UnitSpec, sources: Sequence[UnitApplier[Any]] = ()):
        self.spec, self.sources = spec, tuple(sources)
        self._files: list[MappedFile] = []
        self._search: UnitSearch[Taken] | None = None  # while no change has come
        self._is_traced = self._keeps_rows = self._has_testified = False
        self._left: np.ndarray | None = None  # pointers, where rows are kept
        self._stop: Refused | PlanAgain | None = None
        self._failed_diff: ApplierError | None = None
        self._kept: pa.Table | None = None
        self._passed: pa.Table | None = None  # the rows before the first change, where they were asked for
        self._has_rows = False  # those of the versions before, none of which was stopped, are here or were passed on
        self._was_changed: bool | None = None  # once the rows were given away
        self._arrivals: Arrivals | None = None
        self._conflicts: list[pa.Table] = []
        self._stored: StoredRows | None = None  # where the base's rows are, if changes may be written beside them
        if spec.merges and isinstance(spec.origin, FromBase):
            self._stored = StoredRows(spec.origin, spec.definition, *spec.bounds)
        self._merged: MergedChanges | None = None
        self._seconds = 0.0
        self._zero_dates = self._next_number = 0
        self.by_foreign_keys = 0
        self._partial_updates: PartialUpdates | None = None

    @cached_property
    def _memory(self) -> UnitMemory:
        return UnitMemory(self.spec.definition, self._files)

    @cached_property
    def _witness(self) -> UnitWitness | None:
        return UnitWitness(self.spec.definition, self._files) if self.spec.witness != OFF else None

    @abstractmethod
    def _new_search(self) -> UnitSearch[Taken]:
        """How rows are found, in an index that has none yet."""

    # ---- what stopped it

    @property
    def is_stopped(self) -> bool:
        """True if a change of this or an earlier version was refused; no later one is applied."""
        if self._stop is None and not self._has_rows:
            return any(link._stop is not None for link in self._links(lambda link: link._has_rows))
        return self._stop is not None

    @property
    def stops(self) -> tuple[Refused | PlanAgain, ...]:
        """What stopped the unit, in this version or those before, in no order."""
        found = ((link._stop, None if link._failed_diff is None else Refused(errors=(link._failed_diff,)),
                  *link._contradicted()) for link in self._links())
        return tuple(stop for some in found for stop in some if stop is not None)

    def _contradicted(self) -> Iterator[Refused]:
        """What the log says of the rows, where that stops a replay."""
        if self.spec.witness == STOP and (differences := self._witnessed.differences):
            yield Refused(errors=tuple(difference.error() for difference in differences))

    def _stopped_by(self, batch: Changes, refused: RefusedChange | LeavesUnit) -> Refused | PlanAgain:
        table = self.spec.definition.full_name
        if isinstance(refused, LeavesUnit):
            return PlanAgain(tables=frozenset([table]))
        what, errno = ("duplicate entry: a row with this key already exists", DUPLICATE_KEY) if refused.duplicate else \
            ("can't find record: the row to update or delete does not exist", KEY_NOT_FOUND)
        place, row = int(batch.places[refused.change]), int(batch.rows[refused.change])
        return Refused(errors=(ReplayStopped(what, file=batch.file.uri, position=place, row=row, errno=errno,
                                             table=table, key=refused.key),))

    # ---- while changes come

    def bind_table_map(self, reading: TableReading) -> None:
        """The table's first changes are coming, and are read so."""
        self._memory.bind_table_map(reading)
        self._partial_updates = PartialUpdates(reading.plans, reading.layouts)
        if self._search is not None:
            self._count_diffs(self._search)

    def _count_diffs(self, search: UnitSearch[Taken]) -> None:
        search.index.diffs.count_by(self._partial_updates, has_befores=self._witness is not None)

    def open(self) -> UnitSearch[Taken]:
        """Get the rows that are there before the first change, unless they are here already."""
        if self._search is None:
            search = self._search = self._new_search()
            if self._witness is not None:
                search.compare_images(self._witness.images)
            if not self.is_stopped:
                with self._timed(), self._refusing():
                    self._memory.base = self._rows_before()
                    self._has_rows = True
                    if self._memory.base.num_rows:
                        search.seed(self._memory.base)
            if self._is_traced:
                search.trace()
            self._count_diffs(search)
        return self._search

    def retain_buffer(self, file: MappedFile) -> None:
        """Tell of memory that images of later batches lie in; it stays as long as the unit."""
        self._files.append(file)

    def take(self, changes: Taken) -> None:
        """Apply a batch of changes of this table."""
        if self.is_stopped:
            return
        search = self.open()
        with self._timed():
            if self._stored is not None and self._reads_by_key:
                self._add_base(self._stored.with_keys(self._keys_of(changes)))
            self._after_batch(changes, search, search.apply(changes, self._memory.layouts))

    @property
    def _reads_by_key(self) -> bool:
        """Whether rows of the base are read when a change may be about them, and not all at first."""
        return False

    def _keys_of(self, changes: Taken) -> tuple[np.ndarray | KeyBytes, ...]:
        """The keys that a batch's changes may be about, as files are sorted by them."""
        raise NotImplementedError

    def _add_base(self, rows: pa.Table) -> None:
        """Have more rows of the base, about whose keys there was no change."""
        if rows.num_rows:
            first = self._memory.base.num_rows
            self._memory.base = pa.concat_tables([self._memory.base, rows])
            self.open().add(rows, first)

    def _after_batch(self, changes: Taken, search: UnitSearch[Taken],
                     refused: RefusedChange | LeavesUnit | None) -> None:
        """Record the result of a batch."""
        if self.is_stopped:  # a statement before it was refused, so the rows were not known
            return
        self._memory.remember_times(changes.batch)
        if self._witness is not None:
            self._witness.take(changes.batch, partial(search.are_here, changes))
            if self._witness.is_full:
                self._compare_images()
        if refused is not None:
            self._stop = self._stopped_by(changes.batch, refused)
        else:
            self._conflicts += search.suppressed_conflicts(self.spec.definition.full_name, changes)

    # ---- what before-images say of rows

    def _compare_images(self) -> None:
        """Compare the before-images that wait with their rows, before these are lost."""
        if self._search is None or self._witness is None:
            return
        index = self._search.index
        self._witness.compare(index, self._memory.reading, partial(self._memory.gatherer, index))

    @property
    def _witnessed(self) -> Witnessed:
        if self._search is None or self._witness is None:
            return Witnessed()
        by_search = self._search.agreed_by_search
        return together([self._witness.result, Witnessed(by_search, by_search)])

    def testimony(self) -> Witnessed:
        """What was witnessed in this version and those before, of each once: its rows may come down to several units.
        """
        chain = [link for link in self._links() if not link._has_testified]
        for link in chain:
            link._has_testified = True
        return together(link._witnessed for link in chain)

    # ---- what changes do to rows

    def trace(self, *, keeping: bool = False) -> None:
        """Keep what changes do to rows, for `take_steps`; to be asked for before the first one. With `keeping`,
        pointers stay good when the rows that are left went on to the table's next version."""
        self._is_traced, self._keeps_rows = True, keeping

    def take_steps(self) -> np.ndarray:
        """The steps of rows since they were taken last (pointer_kernel.TRACED), in memory that the next change uses.
        Their pointers stay good until they are given back, whatever becomes of the rows that are left."""
        return np.empty(0, TRACED) if self._search is None else self._search.index.take_steps()

    def give_back(self, pointers: np.ndarray) -> None:
        """What rows were before steps was read, and is wanted no more."""
        if self._search is not None:
            self._search.index.give_back(pointers)

    def traced_rows(self) -> TracedRows:
        """The rows that pointers of steps lead to."""
        return TracedRows(self.spec.definition, self._memory, self.rows_at_first,
                          None if self._search is None else self._search.index)

    @property
    def pointers_left(self) -> np.ndarray:
        """Pointers to the rows that are left after all changes, where rows are kept, in the order in which the next
        version has them at first."""
        if self._left is None:
            self._left = np.arange(self.rows_at_first.num_rows) if self._search is None else self._search.pointers()
        return self._left

    @property
    def rows_at_first(self) -> pa.Table:
        """The rows that were there before the first change."""
        if self._search is not None:
            return self._memory.base
        with self._refusing():
            self._passed = self._rows_before()
            return self._passed
        return self._memory.base  # a statement was refused: there are `stops`

    def _rows_before(self) -> pa.Table:
        if self._passed is None:
            if self._stored is not None:
                return without_rows(table_schema(self.spec.definition)) if self._reads_by_key else self._stored.all()
            self._pass_rows_on()
            return rows_before(self.spec, self.sources)
        return self._passed

    def _pass_rows_on(self) -> None:
        """Have versions without changes take the rows of those before them, from the first one on: each asks only the
        one before it, however many there are."""
        for link in self._links(lambda link: link._search is not None or link._passed is not None):
            if link is not self and link._search is None and link._passed is None and link._was_changed is None:
                link._passed = rows_before(link.spec, link.sources)

    # ---- the rows that are left

    @property
    def arrivals(self) -> Arrivals:
        """What is known of how the rows came; to be asked before they are taken."""
        for link in self._links(lambda link: link._arrivals is not None):
            if link._arrivals is None:
                link._arrivals = link._own_arrivals()
        assert self._arrivals is not None, "it is the last of its links"
        return self._arrivals

    def _own_arrivals(self) -> Arrivals:
        """What is known of how the rows came, where that is known of the versions before."""
        before = [source._arrivals for source in self.sources if source._arrivals is not None]
        index = None if self._search is None else self._search.index
        touched = isinstance(self.spec.origin, FromBase | Exchanged) or self.by_foreign_keys or (
            index is not None and (index.updated or index.deleted))
        divided = self.spec.sources and self.spec.sources[0].conversion.old.partitioning is not None
        return Arrivals(in_order=not divided and all(rows.in_order for rows in before),
                        only_inserted=not touched and all(rows.only_inserted for rows in before))

    def rows(self) -> Iterator[pa.Table]:
        """The rows that are left, in the order in which they are written, some thousand at a time; they are lost but
        for a group, in which several units take them."""
        if not isinstance(self.spec.needs, ExchangeGroup):
            yield from self._rows_once()
            return
        if self._kept is None:
            self._kept = pa.concat_tables([without_rows(table_schema(self.spec.definition)), *self._rows_once()])
        yield from _chunks(self._kept)

    def _rows_once(self) -> Iterator[pa.Table]:
        self._was_changed = self.is_changed
        if self._search is None:
            self._next_number = self.sources[0]._next_number if self.sources else 0
            rows = self.rows_at_first if self._keeps_rows else self._rows_before()
            self._passed = self._passed if self._keeps_rows else None
            yield from _chunks(rows)
            return
        self._compare_images()
        gatherer = self._memory.gatherer(self._search.index)
        yield from self._gathered(gatherer, self.pointers_left if self._keeps_rows else self._search.pointers())
        if not self._keeps_rows:
            self._memory.release()

    def _gathered(self, gatherer: RowGatherer, pointers: np.ndarray) -> Iterator[pa.Table]:
        """The rows that pointers lead to, the last ones that are gathered."""
        yield from self._numbered(gatherer.batches(pointers))
        self._zero_dates, self._failed_diff = gatherer.zero_dates, gatherer.failed_diff()

    def _numbered(self, rows: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """The rows with the numbers of an AUTO_INCREMENT column that the log does not have: only a row store's."""
        return rows

    def check(self) -> None:
        """See whether all is possible that came before the unit stopped: that JSON diffs fit, and that it is known what
        statements made of the rows."""
        if self.sources and self._search is None and not self.is_stopped and self.spec.place is not None:
            with self._refusing():
                for _ in self.rows():
                    pass
        self._check_diffs()

    def _check_diffs(self) -> None:
        for link in self._links():
            if link._was_changed is None:
                link._compare_images()
            if link._was_changed is None and link._search is not None and link._search.index.diffs.n:
                link._failed_diff = link._memory.gatherer(link._search.index).failed_diff()

    def finish(self) -> UnitResult:
        """Write the rows that are left, in key order, those of a table without one as they came; nothing where no
        change came into the unit's range. It does not count where there are `stops` afterwards."""
        written = Written(None)
        with self._timed(), self._refusing():
            self._compare_images()
            if (place := self.spec.place) is None or self.is_stopped:
                self.check()
            elif self.is_changed:
                written = self._write(place)
        chain = self._links()
        conflicts = [part for link in chain for part in link._conflicts]
        found = sum((link._search.found for link in chain if link._search is not None), Counter[str]())
        inserted, updated, deleted, zero_dates, partial_updates, documents, bytes_saved = self._counts()
        return UnitResult(self.spec.number, inserted, updated, deleted, zero_dates, written.files,
                          pa.concat_tables(conflicts) if conflicts else None, dict(found),
                          sum(link._seconds for link in chain), written.history,
                          sum(link.by_foreign_keys for link in chain), self._next_number, written.zero_dates,
                          self.testimony(), partial_updates, documents, bytes_saved, self._merged)

    def _write(self, place: TableTarget) -> Written:
        """Write the rows that are left, or, beside those that are there already, what was changed of them."""
        key, stored, search = self.spec.key, self._stored, self._search
        if stored is None or search is None or key is None or self._numbers_rows:
            if stored is not None and self._reads_by_key:
                self._add_base(stored.all())
            return write_unit(place, self.spec.number, self.spec.definition, self.rows())
        changes = search.index.inserted + 2 * search.index.updated + search.index.deleted
        if self._reads_by_key and not is_small(self.spec.base_files, changes):
            self._add_base(stored.all())
        self._was_changed = True
        gatherer, pointers = self._memory.gatherer(search.index), search.pointers()
        base = gatherer.base_rows(pointers)
        base[base >= self._memory.base.num_rows] = -1  # values that foreign keys gave
        stays = np.zeros(self._memory.base.num_rows, np.bool_)
        stays[base[base >= 0]] = True
        added = pointers[base < 0]
        if is_small(self.spec.base_files, len(added) + int((~stays).sum())):
            unit = ChangedUnit(self.spec, key, self._memory.base, stored, stays)
            self._merged, zero_dates = unit.write(self._gathered(gatherer, added))
            written = Written(None, (), zero_dates)
        else:
            written = write_unit(place, self.spec.number, self.spec.definition, self._gathered(gatherer, pointers))
        self._memory.release()
        return written

    @property
    def _numbers_rows(self) -> bool:
        """Whether rows that are as they were in the log may be written otherwise."""
        return ExtraColumns(self.spec.definition, self._memory.n_logged).changes_rows

    # ---- the outcome

    def _links(self, ends: Callable[[UnitApplier[Any]], bool] = lambda _: False) -> list[UnitApplier[Any]]:
        """The appliers of the versions whose rows come down to this one, which is the last, each after those before it.
        Where one `ends` it, it is there, and those before it are not."""
        return in_order_of_rows(self, lambda link: link.sources, ends)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Stop at a statement, within it, as at a change that cannot be applied: others may have to stop before."""
        try:
            yield
        except (SchemaError, ReplayStopped) as error:
            if error.file is None or error.position is None:  # not something of the log
                raise
            self._stop = Refused(errors=(error,))

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds += time.perf_counter() - began

    @property
    def is_changed(self) -> bool:
        """Whether the rows are not those of the base. A row that moves in from another unit is counted there."""
        link: UnitApplier[Any] = self
        while (known := link._changed_here) is None:
            link = link.sources[0]
        return known

    @property
    def _changed_here(self) -> bool | None:
        """The same; None if it depends on the version before."""
        if self._was_changed is not None:
            return self._was_changed
        if self._search is not None:
            index = self._search.index
            changes = self.by_foreign_keys or index.inserted or index.updated or index.deleted
            if changes or index.live != self._memory.base.num_rows:
                return True
        match self.spec.origin:
            case Exchanged():
                return True
            case Altered() as altered:
                return None if altered.keeps_rows else True
            case _:
                return bool(self.spec.shared_files)  # which other units may change

    def _counts(self) -> tuple[int, ...]:
        """Rows inserted, updated and deleted, zero dates, and what PartialUpdates counts, in this version and those
        before. Changes to a table whose partition was exchanged count there."""
        counts, counted = np.zeros(_ROWS + N_DIFFS, np.int64), set[int]()
        pending: list[UnitApplier[Any]] = [self]
        while pending:
            unit = pending.pop()
            if id(unit) in counted:
                continue
            counted.add(id(unit))
            pending += [before for number, (source, before) in enumerate(zip(unit.spec.sources, unit.sources)) if not (
                number == 0 and (removed := source.conversion.removed) is not None and not removed.inside)]
            if unit._search is not None:
                index = unit._search.index
                counts += (index.inserted, index.updated, index.deleted, unit._zero_dates, *index.diffs.counts)
        return tuple(counts.tolist())


def _chunks(rows: pa.Table) -> Iterator[pa.Table]:
    return (pa.Table.from_batches([batch]) for batch in rows.to_batches(CHUNK_ROWS))
