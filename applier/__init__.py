"""A replica applier for MySQL and MariaDB: binlog archives become exact Parquet snapshots, on Spark."""

__version__ = "0.1.0"
