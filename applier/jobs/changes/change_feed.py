"""The changes of one table, as batches in commit order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from applier.errors import UsageError
from applier.jobs.changes.commit_order import CommitOrder
from applier.jobs.changes.keys import always_keyed, key_columns
from applier.jobs.changes.log import FeedLog
from applier.jobs.changes.row_statements import STATEMENT, RowStatements
from applier.jobs.changes.single_images import SingleImages
from applier.jobs.changes.stored import Part, StoredAs
from applier.jobs.changes.whole.whole_rows import WholeRows
from applier.schema.table_parts import Column
from applier.snapshot.manifest import BinlogPosition


@dataclass(frozen=True)
class ChangeFeed:
    """The changes of a table; `notes` are notes for the user, `order` is that of the log's commits, `position`
    where the log ends."""

    notes: tuple[str, ...]
    _stored: StoredAs
    _log: FeedLog
    _source: SingleImages | WholeRows
    _statements: RowStatements
    order: CommitOrder
    position: BinlogPosition
    _has_statements: bool = False

    @property
    def schema(self) -> pa.Schema:
        """That of `batches`."""
        return self._stored.schema.append(STATEMENT) if self._has_statements else self._stored.schema

    @property
    def columns(self) -> dict[str, Column]:
        """The table's columns in the feed, by name."""
        return self._log.columns

    @property
    def key(self) -> tuple[str, ...]:
        """The names of the columns of the table's key, where it has one; see FeedLog."""
        return self._log.key

    @property
    def chosen_by(self) -> tuple[Column, ...]:
        """The key columns by which rows can always be chosen, in their last version, with their names in the feed; none
        if a version of the table has another key, which its images may omit."""
        versions, names = self._log.versions, self._log.names
        return key_columns(versions, names) if always_keyed(versions, names) else ()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the changes in commit order. Raises ArchiveError for damage and for bytes that changed since they were
        outlined; for whole rows, ReplayStopped if a replica would stop. Batches before the error are correct."""
        batches = self._stored.part(self._source).batches()
        if self._has_statements:
            batches = (more for batch in batches for more in self._statements.added(batch, self.schema))
        return self.order.batches(batches)

    def with_statements(self) -> ChangeFeed:
        """Return the same changes with a last column `_statement`: the logged statement behind each, null if there is
        none. Raises UsageError if the table has such a column."""
        if STATEMENT.name in self.schema.names:
            raise UsageError(f"column {STATEMENT.name} has the name of one of the feed's own columns",
                             hint="ask for its other columns")
        return replace(self, _has_statements=True)

    def parts(self, size: int) -> Sequence[Part]:
        """Return parts with about `size` bytes of the log each, for tasks. Whole rows are one part."""
        parts = [self._source] if isinstance(self._source, WholeRows) else self._source.parts(size)
        return [self._stored.part(part) for part in parts]
