"""For Spark sessions: binlogs as a data source.

    spark.dataSource.register(applier.spark.BinlogSource)
    spark.read.format("binlog").option("table", "shop.orders").load("/backup/binlogs")
"""

from applier.engine.spark.spark_private import is_before_4
from applier.errors import NotInstalled

try:
    from applier.jobs.spark_source.source import BinlogSource
except ImportError as error:
    if error.name == "pyspark.sql.datasource" and is_before_4():
        raise NotInstalled("the data source needs Spark 4.0 or newer, which has data sources in Python",
                           hint="Spark 3.5 runs `applier replay --master`; `applier changes` writes Parquet that it "
                                "reads") from error
    raise NotInstalled(f"it takes Spark: {error}", hint="pip install 'mysql-binlog-applier[spark]'") from error

__all__ = ["BinlogSource"]
