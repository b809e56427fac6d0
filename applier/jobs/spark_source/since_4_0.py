"""Classes of Spark's data source API that are newer than the API: filters (Spark 4.1) and read limits (4.2).

In an older Spark each is an empty class, and Spark makes no objects of it: it pushes no filters down, and calls
`latestOffset` without arguments.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.datasource import (
        EqualTo,
        Filter,
        GreaterThan,
        GreaterThanOrEqual,
        In,
        LessThan,
        LessThanOrEqual,
    )
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes, SupportsTriggerAvailableNow
else:
    from pyspark.sql import datasource

    def _found(module, *names):
        return [getattr(module, name, None) or type(name, (), {}) for name in names]

    EqualTo, Filter, GreaterThan, GreaterThanOrEqual, In, LessThan, LessThanOrEqual = _found(
        datasource, "EqualTo", "Filter", "GreaterThan", "GreaterThanOrEqual", "In", "LessThan", "LessThanOrEqual")
    if HAS_READ_LIMITS := find_spec("pyspark.sql.streaming.datasource") is not None:
        from pyspark.sql.streaming import datasource as limits
    else:
        limits = None
    ReadAllAvailable, ReadLimit, ReadMaxBytes, SupportsTriggerAvailableNow = _found(
        limits, "ReadAllAvailable", "ReadLimit", "ReadMaxBytes", "SupportsTriggerAvailableNow")

HAS_READ_LIMITS: bool
"""True from Spark 4.2 on: a stream can bound its micro-batches."""

__all__ = ["HAS_READ_LIMITS", "EqualTo", "Filter", "GreaterThan", "GreaterThanOrEqual", "In", "LessThan",
           "LessThanOrEqual", "ReadAllAvailable", "ReadLimit", "ReadMaxBytes", "SupportsTriggerAvailableNow"]
