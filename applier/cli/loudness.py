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


_chosen, _times = Loudness.NORMAL, 0


def choose(loudness: Loudness, times: int = 0) -> None:
    """Say so much from now on, in this process; -v was given so many times."""
    global _chosen, _times
    _chosen, _times = loudness, times


def chosen() -> Loudness:
    """How much is to be said."""
    return _chosen


def times_verbose() -> int:
    """How many times -v was given."""
    return _times
