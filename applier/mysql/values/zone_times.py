"""Columns of times in named zones, converted as servers convert them."""

from contextlib import suppress
from zoneinfo import available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def utc_of(local: np.ndarray, zone: str) -> np.ndarray:
    """Convert local microseconds (int64) of a named zone to UTC, as servers do: an hour that occurs twice is the first
    one; a time in a skipped hour becomes the second that ends it, with the fraction of a second. Raises Arrow's
    errors."""
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
