"""CRC32 in kernels is zlib's, for every length, alignment and seed, by both ways of computing it.

Two kernels are compiled for this file alone, in a second."""

import pathlib
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.kernels.crc32 import HAS_CARRYLESS_MULTIPLY, crc32, crc32_carryless, crc32_tables
from keysearch.addresses import address_of
from keysearch.memory import kernel
from tests.support.examples import examples

BYTES = np.random.default_rng(32).integers(0, 256, 4096, np.uint8)


@kernel
def by_tables(address, length, seed):
    return crc32_tables(address, length, seed)


@kernel
def by_choice(address, length, seed):
    return crc32(address, length, seed)


@pytest.mark.parametrize("compute", [by_tables, by_choice])
def test_every_short_length_and_alignment(compute):
    for length in range(300):
        for start in (0, 1, 7, 15):
            part = BYTES[start : start + length]
            assert compute(address_of(part) if length else address_of(BYTES), length, np.uint32(0)) == zlib.crc32(
                part
            )


@pytest.mark.parametrize("compute", [by_tables, by_choice])
@given(start=st.integers(0, 64), length=st.integers(0, 4000), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=examples(200))
def test_any_seed(compute, start, length, seed):
    """The seed is the CRC of what came before, so parts can be added one by one."""
    part = bytes(BYTES[start : start + length])
    assert compute(address_of(BYTES) + start, length, np.uint32(seed)) == zlib.crc32(part, seed)


def test_the_fast_way_is_taken_where_the_cpu_has_it():
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    assert HAS_CARRYLESS_MULTIPLY == (" pclmulqdq " in flags and " ssse3 " in flags)
    assert crc32 is (crc32_carryless if HAS_CARRYLESS_MULTIPLY else crc32_tables)
