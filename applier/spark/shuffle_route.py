"""The shuffle route as a Spark job: every stretch of log is decoded once, and its changes go to the units they are for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from applier.apply.shuffle import SplitTask, apply_payloads, split_payloads
from applier.apply.work import TaskOutcome, UnitSpec
from applier.spark.stages import shuffle_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def apply_by_shuffling(spark: SparkSession, splits: list[SplitTask], units: list[UnitSpec], *,
                       on_progress: Callable[[int, int], None] | None = None) -> list[TaskOutcome]:
    """Apply all units (numbered from 0 in their order) to the changes of all stretches of log."""
    def reduce(number: int, payloads: Iterator[tuple[int, pa.Buffer]]) -> TaskOutcome:
        return apply_payloads(units[number], payloads)

    return shuffle_tasks(spark, split_payloads, splits, reduce, len(units), on_progress=on_progress)
