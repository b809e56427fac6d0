"""`spark.read.format("binlog")` and `spark.readStream.format("binlog")`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from applier.engine.spark.spark_private import PushFilters
from applier.jobs.changes.job import ChangeLog
from applier.jobs.spark_source import options
from applier.jobs.spark_source.options import narrowed
from applier.jobs.spark_source.reading import Part, parts, schema_of
from applier.jobs.spark_source.since_4_0 import Filter
from applier.jobs.spark_source.streaming import BinlogStream


class BinlogSource(DataSource):
    """The row changes of a table, or with images as JSON of any tables, of binlogs.

    Options are those of `applier.changes`, in Spark's spelling: `table`, `columns`, `base`, `schema`, `startPosition`,
    `startDatetime`, `stopPosition`, `stopGtid`, `stopDatetime`, `gtids`, `defineFromLog`, `ignoreForeignKeys`,
    `complete`, `unsignedBigint`; `tables` chooses where no table is named; a task reads about `partitionBytes` (64M)
    of log; `maxBytesPerTrigger` bounds a micro-batch.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for `format`."""
        return "binlog"

    def schema(self) -> StructType:
        """Return the columns of `applier.changes`; of several tables `_table` and the images, as JSON."""
        asked = options.parse(self.options)
        return from_arrow_schema(schema_of(None if asked.table is None else ChangeLog(asked.changes), asked))

    def reader(self, schema: StructType) -> BinlogReader:
        """For `spark.read`."""
        return BinlogReader(options.parse(self.options))

    def streamReader(self, schema: StructType) -> BinlogStream:
        """For `spark.readStream`."""
        return BinlogStream(options.parse(self.options), schema.fieldNames())


class BinlogReader(DataSourceReader):
    """Reads all changes, a task a part of the log."""

    def __init__(self, asked: options.SourceOptions) -> None:
        self._asked = asked

    @property
    def pushFilters(self) -> PushFilters:
        """Return the filters of a query on `_table`, `_gtid`, `_commit_version` and `_commit_timestamp`; see
        `pushed`."""
        return PushFilters(self._push)

    def _push(self, filters: Sequence[Filter]) -> Sequence[Filter]:
        self._asked = narrowed(self._asked, filters)
        return filters

    def partitions(self) -> Sequence[InputPartition]:
        """Outline the log, and divide it."""
        return parts(ChangeLog(self._asked.changes), self._asked)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Return the rows of a part."""
        assert isinstance(partition, Part)
        return partition.batches()
