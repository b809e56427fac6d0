"""For Spark sessions: binlogs as a data source.

    spark.dataSource.register(applier.spark.BinlogSource)
    spark.read.format("binlog").option("table", "shop.orders").load("/backup/binlogs")
"""

from applier.errors import NotInstalled

try:
    from applier.jobs.spark_source.source import BinlogSource
except ImportError as error:
    raise NotInstalled(f"it takes Spark: {error}", hint="pip install 'mysql-binlog-applier[spark]'") from error

__all__ = ["BinlogSource"]
