"""How much is printed on stderr: the options -q and -v of every verb."""

from enum import IntEnum


class Loudness(IntEnum):
    """How much stderr gets."""

    QUIET = 0
    """Errors only."""
    NORMAL = 1
    """Progress, and notes about the result."""
    VERBOSE = 2
    """Also a line with the time for each step, and for an error the place in the code where it was raised."""


_chosen = Loudness.NORMAL


def choose(loudness: Loudness) -> None:
    """Set how much this process prints from now on."""
    global _chosen
    _chosen = loudness


def chosen() -> Loudness:
    """Return how much to print."""
    return _chosen
