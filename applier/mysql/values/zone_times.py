"""Columns of times in named zones, converted as servers convert them."""

from contextlib import suppress
from zoneinfo import available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def utc_of(local: np.ndarray, zone: str) -> np.ndarray:
    """Local microseconds (int64) of a named zone in UTC, as servers convert them: of an hour that is there twice the
    first one; in an hour that is left out, the second that ends it, with the fraction of a second. Raises what Arrow
    raises."""
    clock = pa.array(local).cast(pa.timestamp("us"))
    utc = pc.assume_timezone(clock, zone, ambiguous="earliest", nonexistent="latest")
    is_there = pc.equal(pc.local_timestamp(utc), clock)
    micros = np.asarray(utc.cast(pa.int64()))
    return np.where(np.asarray(is_there), micros, micros + local % 1_000_000)


def local_of(utc: np.ndarray, zone: str) -> np.ndarray:
    """Microseconds UTC (int64) as local ones of a named zone. Raises what Arrow raises."""
    instants = pa.array(utc).cast(pa.timestamp("us", zone))
    return np.asarray(pc.local_timestamp(instants).cast(pa.int64()))


def may_be_repeated(utc: np.ndarray) -> bool:
    """Return whether some of these times (int64 microseconds) are in the second of two equal hours of some zone."""
    times = np.unique(utc // _STEP) * _STEP
    for zone in sorted(available_timezones()):
        with suppress(pa.ArrowException):  # as for names that are no zones
            if (utc_of(local_of(times, zone), zone) != times).any():
                return True
    return False


_STEP = 300_000_000
"""Zones change their clocks, and by how much, in whole steps of five minutes since 1970."""
