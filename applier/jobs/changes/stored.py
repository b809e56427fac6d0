"""Rows of a feed or a history with another type of BIGINT UNSIGNED columns: applier.snapshot.files.unsigned_bigints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from applier.schema.table_parts import Column
from applier.snapshot import AS_DECIMAL
from applier.snapshot.files.unsigned_bigints import UnsignedBigints, is_unsigned_bigint


class Part(Protocol):
    """A source of batches; picklable."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Its rows, in order."""


@dataclass(frozen=True)
class Batches:
    """Batches that exist already."""

    once: Iterator[pa.RecordBatch]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """These."""
        return self.once


@dataclass(frozen=True)
class StoredAs:
    """How batches of this schema have BIGINT UNSIGNED: `choice` is as people ask for it."""

    schema: pa.Schema
    bigints: UnsignedBigints
    choice: str

    @classmethod
    def of(cls, table: str, columns: Mapping[str, Column], key: Sequence[str], schema: pa.Schema,
           choice: str) -> StoredAs:
        """For rows of a table ("db.table") with these columns, whose batches have a schema."""
        bigints = UnsignedBigints(table, tuple(name for name, column in columns.items()
                                               if is_unsigned_bigint(column.type)), tuple(key))
        return cls(bigints.stored_schema(schema, choice), bigints, choice)

    def part(self, source: Part) -> Part:
        """The same rows, stored so."""
        return source if self.choice == AS_DECIMAL else _StoredPart(self, source)


@dataclass(frozen=True)
class _StoredPart:
    as_what: StoredAs
    source: Part

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows. Raises ReplayStopped for a value that does not fit."""
        schema, bigints, choice = self.as_what.schema, self.as_what.bigints, self.as_what.choice
        for batch in self.source.batches():
            stored = bigints.as_stored(pa.Table.from_batches([batch]), choice)
            yield pa.RecordBatch.from_arrays([column.combine_chunks() for column in stored.columns], schema=schema)
