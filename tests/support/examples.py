"""How many examples a random test tries: all of them in `make fuzz`, a quarter of them in any other run."""

from hypothesis import settings

MOST = 100
"""Examples of the profile `thorough` (tests/conftest.py), which a test without a number of its own tries."""


def examples(most: int) -> int:
    """The number of examples by the profile of this run, of a test that tries `most` in `make fuzz`."""
    return most * settings.default.max_examples // MOST
