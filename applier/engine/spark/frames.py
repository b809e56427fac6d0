"""Small DataFrames of numbers and bytes, made and collected in every version of Spark: Spark 3 neither accepts nor
returns Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from applier.engine.spark.spark_private import active_session_kept, is_before_4

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SQL_TYPES = {pa.int32(): "int", pa.binary(): "binary"}


def sql_of(schema: pa.Schema) -> str:
    """The columns as SQL declares them."""
    return ", ".join(f"{field.name} {_SQL_TYPES[field.type]}" for field in schema)


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return a DataFrame with the rows of a table."""
    with active_session_kept(spark):
        if not is_before_4():
            return spark.createDataFrame(table)
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return spark.createDataFrame([*rows], sql_of(table.schema))


def table_of(frame: DataFrame, schema: pa.Schema) -> pa.Table:
    """Return the rows of a DataFrame with these columns. Errors: those of its tasks."""
    if not is_before_4():
        return frame.toArrow()
    rows = frame.collect()
    return pa.table([pa.array([row[number] for row in rows], field.type)
                     for number, field in enumerate(schema)], schema)
