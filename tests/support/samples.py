"""Samples of an outline, made by hand."""

from array import array
from itertools import accumulate

from applier.binlog.outline.samples import Samples


def samples_of(*tables: list[bytes]) -> Samples:
    """The samples of each table, in the order of the tables."""
    samples = [sample for of_table in tables for sample in of_table]
    return Samples(b"".join(samples), array("L", accumulate(map(len, samples), initial=0)),
                   array("I", accumulate(map(len, tables), initial=0)))
