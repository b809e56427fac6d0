"""Which processor kernels are compiled for: a level that many have, so that compiled kernels can travel.

A level of x86-64 is a set of instructions that processors have since a certain year (the ABI's supplement defines
them). Kernels for the highest that this one has are within a few per cent of kernels for this one alone. A processor
without any of them, or without carry-less multiplication (which CRC32 needs), gets kernels of its own.
"""

from collections.abc import Set
from typing import NamedTuple

from keysearch import numba_private


class Processor(NamedTuple):
    """A processor as LLVM names it: its model, and instructions that it has (+) or does not have (-) besides the
    model's."""

    model: str
    features: str

    @property
    def is_level(self) -> bool:
        return self in LEVELS

    def has(self, *features: str) -> bool:
        """Return whether it has all of these instructions, by LLVM's names of them."""
        named = self.features.split(",")
        of_model = LEVELS.get(self, frozenset())
        return all(f"+{feature}" in named or feature in of_model for feature in features)


_V2 = frozenset({"cx16", "pclmul", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"})
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
LEVELS = {Processor("x86-64-v3", "+pclmul"): _V3, Processor("x86-64-v2", "+pclmul"): _V2}
"""The requirements of each level, the highest first."""


def level_of(features: Set[str]) -> Processor | None:
    """The highest level that a processor with these instructions has; None where it has none."""
    return next((level for level, needed in LEVELS.items() if needed <= features), None)


def choose() -> None:
    """Have Numba compile for this processor's level. If it has none, or if Numba has a configured processor (its
    NUMBA_CPU_NAME) or has compiled already for this one, nothing changes."""
    level = level_of(numba_private.host_features())
    if level and not numba_private.is_told_processor() and not numba_private.has_begun():
        numba_private.compile_for(*level)


def chosen() -> Processor:
    """The processor that kernels are compiled for."""
    return Processor(*numba_private.compiled_for())
