"""Rows that pass from one version of a table to the next."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from applier.apply.output.misplaced_rows import Misplaced
from applier.columns.alter.scan_order import Arrivals


@dataclass
class PassedRows:
    """A unit that has these rows."""

    table: pa.Table
    arrivals: Arrivals = field(default_factory=Arrivals)
    ranks: np.ndarray | None = None
    misplaced: Misplaced = field(default_factory=dict)
    counter: int | None = 1

    def rows(self) -> Iterator[pa.Table]:
        yield self.table
