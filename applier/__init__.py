"""A replica applier for MySQL and MariaDB: binlog archives become exact Parquet snapshots, on Spark."""

import jsondiff

__version__ = "0.1.0"

if "apply_diffs" not in getattr(jsondiff, "__all__", ()):
    raise ImportError(
        f"the jsondiff found at {jsondiff.__file__} is another package, and hides the one that comes with applier; "
        "hint: pip uninstall jsondiff, install mysql-binlog-applier anew, or keep the other one in another environment",
        name="jsondiff", path=jsondiff.__file__)
