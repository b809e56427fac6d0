"""How much is said on stderr: what -q and -v of every verb ask for."""

from enum import IntEnum


class Loudness(IntEnum):
    """What stderr gets."""

    QUIET = 0
    """Errors only."""
    NORMAL = 1
    """Progress, and notes about the result."""
    VERBOSE = 2
    """Besides, a line with the time for each step, and of an error where in the code it came from."""
    VERY_VERBOSE = 3
    """With -vv; of `show`, which prints types of values then."""


_chosen = Loudness.NORMAL


def choose(loudness: Loudness) -> None:
    """Say so much from now on, in this process."""
    global _chosen
    _chosen = loudness


def chosen() -> Loudness:
    """How much is to be said."""
    return _chosen
