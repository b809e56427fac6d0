"""Parts of feeds as Spark's partitions, and their batches in Spark's types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from applier.engine import compiling
from applier.errors import UsageError
from applier.jobs.change_files.images import SCHEMA, JsonImages
from applier.jobs.changes import stored
from applier.jobs.changes.change_feed import ChangeFeed
from applier.jobs.changes.job import ChangeLog
from applier.jobs.spark_source.options import SourceOptions, keys_of
from applier.schema.ddl.schema_changes import TableName


@dataclass
class Part(InputPartition):
    """Changes that a task reads: those of a part of the log, with images as JSON or as columns."""

    source: stored.Part
    images: JsonImages | None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        compiling.ensure("change files")
        for batch in self.source.batches():
            for rows in [batch] if self.images is None else self.images.rows(batch):
                yield in_spark_types(rows)


def parts(log: ChangeLog, options: SourceOptions) -> list[Part]:
    """Return the parts of a log that tasks read, in the order of each table's changes."""
    tables = [options.table] if options.table is not None else [
        name for name in log.tables(options.filter) if options.named is None or ".".join(name) in options.named]
    found = []
    for table in tables:
        feed = _narrowed(log, log.feed(table, options.columns), table, options)
        images = None if options.table is not None else JsonImages(table, feed.columns)
        found += [Part(source, images) for source in feed.parts(options.partition_bytes)]
    return found


def _narrowed(log: ChangeLog, feed: ChangeFeed, table: TableName, options: SourceOptions) -> ChangeFeed:
    """Return the feed without rows that no query of these options wants, as far as the table's key says which ones."""
    keys = keys_of(feed.chosen_by, options.equal) if options.table is not None else None
    try:
        return feed if keys is None else log.feed(table, options.columns, keys)
    except UsageError:  # a value that no key can have: Spark finds none
        return feed


def schema_of(log: ChangeLog | None, options: SourceOptions) -> pa.Schema:
    """Return the schema of the source, in Spark's types; `log` is needed if a table is named."""
    schema = SCHEMA
    if options.table is not None and log is not None:
        schema = log.feed(options.table, options.columns).schema
    return in_spark_types(pa.RecordBatch.from_pylist([], schema)).schema


def in_spark_types(batch: pa.RecordBatch) -> pa.RecordBatch:
    """As a snapshot's files have values: TIME is a number of microseconds; and dictionaries are texts."""
    made = []
    for values in batch.columns:
        if pa.types.is_duration(values.type):
            made.append(values.cast(pa.int64()))
        else:
            made.append(values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values)
    fields = [pa.field(field.name, values.type) for field, values in zip(batch.schema, made, strict=True)]
    return pa.RecordBatch.from_arrays(made, schema=pa.schema(fields))
