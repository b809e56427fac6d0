"""For Spark sessions: binlogs as a data source.

    spark.dataSource.register(applier.spark.BinlogSource)
    spark.read.format("binlog").option("table", "shop.orders").load("/backup/binlogs")
"""

from applier.jobs.spark_source.source import BinlogSource

__all__ = ["BinlogSource"]
