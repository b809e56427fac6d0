"""Spark's hash of an INT, and the numbers that it puts in each partition. The hashes are those that `SELECT hash(n)`
of Spark 3.5.9, 4.0.5 and 4.3.0 gave."""

import numpy as np
import pytest

from applier.engine.spark.partitions import hash_of, values_of_partitions

OF_SPARK = {0: 933211791, 1: -559580957, 2: 1765031574, -1: -1604776387, 42: 29417773, 2147483647: 133916647}


def test_the_hash_is_sparks():
    assert hash_of(np.array([*OF_SPARK], np.int32)).tolist() == [*OF_SPARK.values()]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 200, 5000])
def test_each_partition_has_a_number(n):
    values = values_of_partitions(n)
    assert (np.mod(hash_of(values).astype(np.int64), n) == np.arange(n)).all() and (values >= 0).all()
